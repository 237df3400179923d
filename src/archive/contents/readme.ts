/** `README.txt`: explains the backup to a reader who has neither Armoire nor any knowledge of it. */
import { nameOfUser } from "../../mirror/account/user.ts";
import { describeMissing, describeNotGranted, describeUnlinked } from "./completeness.ts";
import { checksumsEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";

export function readmeText(manifest: BackupManifest): string {
  const { service, area, user, account, state, tables } = manifest;
  const host = new URL(service.baseUrl).host;
  const owner = user === null ? "" : `${oneLine(`User            ${nameOfUser(user)}`)}\n`;
  const accountLine = account === null ? "" : `Account         ${account}\n`;
  const gaps = [describeMissing(manifest), describeNotGranted(manifest), describeUnlinked(manifest)].filter(
    (gap) => gap !== null,
  );
  const catalogue = manifest.catalogue?.tables ?? [];
  return `${oneLine(`A backup of what ${host} held${account === null ? "" : ` for ${account}`}, made by Armoire`)}

${oneLine(`Service         ${service.baseUrl}`)}
${accountLine}${owner}As of           ${state.at} (run ${state.run})
${gaps.map((gap) => `${oneLine(gap)}\n`).join("")}
READ IT
${area === "account" ? pageLine : ""}  The .csv files in the folder "tables" open in any spreadsheet, in UTF-8. The .json files beside them hold the same exactly.
  tables/datapackage.json describes each column for programs that read Data Packages (https://datapackage.org).
${filesOf("tables", tables)}  A text in a .csv file that a spreadsheet would run as a formula has an apostrophe (') before it.
${tables.some(({ name }) => name === "measurement_value") ? `  measurement_value.csv has a line for each value of each measurement; measurement.csv has whole measurements, as JSON.\n` : ""}${catalogue.length > 0 ? catalogueSection(catalogue) : ""}  The folder "revisions" holds every response of the service, byte for byte, including replaced ones: one after the other,
  each followed by a line feed, so \`jq . revisions/00001.json\` shows them. The lines of 00001-index.ndjson give the SHA-256,
  the offset and the length of each. bookkeeping/revision-00001.ndjson lists the resource and the time of each SHA-256, by the
  numbers in bookkeeping/resource-00001.ndjson.
  The folder "media", if present, holds pictures; a double click opens them. A file's name without its extension is the
  SHA-256 of its content. tables/media.csv lists what each shows, and bookkeeping/media_file-00001.ndjson lists earlier
  pictures of the same address, by number.

CHECK IT
  With Armoire:     armoire backup verify FILE
  Without, unpack it and, in its folder:     sha256sum -c --ignore-missing ${checksumsEntry}
  The SHA-256 of the file ${checksumsEntry} itself is the root hash that Armoire showed when it made this backup. These checks find
  damage. They do not find a forgery with matching checksums; only a root hash that was kept elsewhere does.

RESTORE IT
  armoire backup restore FILE --mirror mirror.sqlite
  makes the mirror again. Armoire can search and show it${area === "account" ? syncInstructions(manifest) : ", and bring it up to date.\n"}
This backup holds no password and no token.${area === "account" ? " It does hold a person's private data." : ""}
`;
}

const pageLine = `  page.html, if present, shows it in any browser, without a network. \`armoire backup restore\` never writes it: in a forged
  backup it could be anything. \`armoire page\` makes it again.
`;

/** An account's mirror can be synced only at the account's own place. */
function syncInstructions({ account, service }: BackupManifest): string {
  const name = account ?? "NAME";
  return `. To bring it up to date as well,
  restore it as the mirror of an account that has none yet:
${oneLine(`  armoire account add ${name} --base-url ${service.baseUrl}`)}
${oneLine(`  armoire backup restore FILE --account ${name}`)}
`;
}

/** One line for each table. */
function filesOf(folder: string, tables: BackupManifest["tables"]): string {
  const lines = tables.map(({ name, current, rows }) => {
    const gone = rows - current;
    return `  ${folder}/${name}.csv, ${folder}/${name}.json: ${current}${gone > 0 ? ` and ${gone} that the service no longer has` : ""}\n`;
  });
  return lines.join("");
}

const catalogueSection = (tables: BackupManifest["tables"]): string => `
  The folder "catalogue" holds the brands, models and sizes that the bras link to, as far as they were mirrored:
${filesOf("catalogue", tables)}  A bra's brand_href, model_href and size_href equal the href there. The service's responses are in catalogue/revisions;
  catalogue/index.ndjson lists the resource of each SHA-256.

`;

/** Names come from users and the service; line breaks in them would forge lines of this text. */
export const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
