/** `README.txt`: explains a snapshot to a reader who has neither Armoire nor any knowledge of it. */
import { checksumsEntry } from "../contents/entry-names.ts";
import { oneLine } from "../contents/readme.ts";
import type { SnapshotManifest } from "./manifest.ts";

export function snapshotReadme(manifest: SnapshotManifest, hasTables: boolean): string {
  const { service, takenOn, license, citation, coverage, continues } = manifest;
  const citationLine = citation === null ? "" : `${oneLine(`Citation        ${citation}`)}\n`;
  const increment =
    continues === undefined
      ? ""
      : `\nThis is an increment: it adds to the snapshot with the root hash\n${continues}\n`;
  const held = coverage.map(({ kind, held, gone, due }) => {
    const others = [gone > 0 ? `${gone} that are gone` : "", due > 0 ? `${due} more are known` : ""];
    return `  ${kind}: ${[held, ...others.filter(Boolean)].join("; ")}\n`;
  });
  return `${oneLine(`A snapshot of the catalogue of ${new URL(service.baseUrl).host}, made by Armoire`)}

${oneLine(`Service         ${service.baseUrl}`)}
As of           ${takenOn}
${oneLine(`Licence         ${license}`)}
${citationLine}${increment}
IN IT
${held.map(oneLine).join("\n")}
READ IT
  The folder "resources" holds the responses of the service, byte for byte: one after the other, each followed by a line feed,
  so \`jq . resources/00001.json\` shows them. Each line of 00001-index.ndjson is one of them: its address, when the service last
  sent or confirmed it, its SHA-256, and where it is in the file.
${hasTables ? tablesLines : ""}
USE IT
  armoire snapshot load FILE
  loads it into a mirror. What is loaded counts as unconfirmed until the service itself has confirmed it.

CHECK IT
  With Armoire:     armoire snapshot verify FILE
  Without, unpack it and, in its folder:     sha256sum -c ${checksumsEntry}
  The SHA-256 of the file ${checksumsEntry} itself is the root hash that its publisher states. These checks find damage. They do
  not find a forgery with matching checksums; only the root hash does.

This snapshot holds nothing of any account: no password, no token, no user and no bras.
`;
}

const tablesLines = `  The .csv files in the folder "tables" open in any spreadsheet, in UTF-8; datapackage.json describes each column
  (https://datapackage.org). A text that a spreadsheet would run as a formula has an apostrophe (') before it.
`;
