/** `README.txt`: for whoever finds the backup one day, without Armoire and without knowing what it is. */
import { nameOfUser } from "../../mirror/account/user.ts";
import { describeMissing, describeNotGranted, describeUnlinked } from "./completeness.ts";
import { checksumsEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";

export function readmeText(manifest: BackupManifest): string {
  const { service, area, user, account, state, tables } = manifest;
  const host = new URL(service.baseUrl).host;
  const whose = user === null ? "" : `${oneLine(`Whose data      ${nameOfUser(user)}`)}\n`;
  const called = account === null ? "" : `Account         ${account}\n`;
  const gaps = [describeMissing(manifest), describeNotGranted(manifest), describeUnlinked(manifest)].filter(
    (gap) => gap !== null,
  );
  const catalogue = manifest.catalogue?.tables ?? [];
  return `${oneLine(`A backup of what ${host} held${account === null ? "" : ` for ${account}`}, made by Armoire`)}

${oneLine(`Service         ${service.baseUrl}`)}
${called}${whose}As of           ${state.at} (run ${state.run})
${gaps.map((gap) => `${oneLine(gap)}\n`).join("")}
READ IT
  The .csv files in the folder "tables" open in any spreadsheet, in UTF-8. The .json files beside them hold the same exactly.
${filesOf("tables", tables)}  A text in a .csv file that a spreadsheet would run as a formula has an apostrophe (') before it.
${tables.some(({ name }) => name === "measurement_value") ? `  The file measurement_value.csv has a line for each value of each measurement; measurement.csv has each whole, as JSON.\n` : ""}${catalogue.length > 0 ? whatTheBrasAre(catalogue) : ""}  In "revisions" is every answer of the service, byte for byte, also those that later ones replaced. A file's name,
  without its ending, is the SHA-256 of its content; bookkeeping/revision.ndjson says of what each is and from when, by the
  numbers in bookkeeping/resource.ndjson.
  In "media", if it is there, are pictures, named in the same way: a double click opens them. tables/media.csv says of what
  each is, and bookkeeping/media_file.ndjson, by numbers, what each address had before.

CHECK IT
  With Armoire:     armoire backup verify FILE
  Without, unpack it and, in its folder:     sha256sum -c ${checksumsEntry}
  The SHA-256 of the file ${checksumsEntry} itself is the root hash that Armoire showed when it made this backup. All of this finds
  damage. A forger could have made other files with other sums; only a root hash that you kept elsewhere tells.

RESTORE IT
  armoire backup restore FILE --mirror mirror.sqlite
  makes a mirror of it, as it was, which Armoire can search and show${area === "account" ? andSyncOn(manifest) : " and bring up to date again.\n"}
There is no password and no token in this backup.${area === "account" ? " It is somebody's private data all the same." : ""}
`;
}

/** The mirror of an account is synced only where that account has it. */
function andSyncOn({ account, service }: BackupManifest): string {
  const name = account ?? "NAME";
  return `. To bring it up to date again too, where
  there is no mirror of the account yet:
${oneLine(`  armoire account add ${name} --base-url ${service.baseUrl}`)}
${oneLine(`  armoire backup restore FILE --account ${name}`)}
`;
}

/** A line a table. */
function filesOf(folder: string, tables: BackupManifest["tables"]): string {
  const lines = tables.map(({ name, living, rows }) => {
    const gone = rows - living;
    return `  ${folder}/${name}.csv, ${folder}/${name}.json: ${living}${gone > 0 ? ` and ${gone} that are gone at the service` : ""}\n`;
  });
  return lines.join("");
}

const whatTheBrasAre = (tables: BackupManifest["tables"]): string => `
  In "catalogue" is what the bras are, as far as the service's catalogue was mirrored, in the same forms:
${filesOf("catalogue", tables)}  A bra's brand_href, model_href and size_href are the href there. The service's answers are in catalogue/revisions, and
  catalogue/index.ndjson says of what each is.

`;

/** What others named may hold anything, but no line of its own. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
