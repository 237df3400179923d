/** `README.txt`: for whoever finds the backup one day, without Armoire and without knowing what it is. */
import { nameOfUser } from "../mirror/account-user.ts";
import { sumsEntry } from "./entry-names.ts";
import type { BackupManifest } from "./manifest.ts";

export function readmeText(manifest: BackupManifest): string {
  const { service, area, user, account, state, tables } = manifest;
  const host = new URL(service.baseUrl).host;
  const whose = user === null ? "" : `${oneLine(`Whose data      ${nameOfUser(user)}`)}\n`;
  const called = account === null ? "" : `Account         ${account}\n`;
  const files = tables.map(({ name, living, rows }) => {
    const gone = rows - living;
    return `  tables/${name}.csv, tables/${name}.json: ${living}${gone > 0 ? ` and ${gone} that are gone at the service` : ""}\n`;
  });
  return `${oneLine(`A backup of what ${host} held${account === null ? "" : ` for ${account}`}, made by Armoire`)}

${oneLine(`Service         ${service.baseUrl}`)}
${called}${whose}As of           ${state.at} (run ${state.run})

READ IT
  The .csv files in the folder "tables" open in any spreadsheet, in UTF-8. The .json files beside them hold the same exactly.
${files.join("")}  A text in a .csv file that a spreadsheet would run as a formula has an apostrophe (') before it.
  In "revisions" is every answer of the service, byte for byte, also those that later ones replaced. A file's name is the
  SHA-256 of its content; bookkeeping/revision.ndjson says of what each is and from when, by the numbers in
  bookkeeping/resource.ndjson.
  In "media", if it is there, are pictures: a viewer opens them. A file's name is the SHA-256 of its content;
  bookkeeping/media_file.ndjson says by numbers what each is, and bookkeeping/media.ndjson what address each number is.

CHECK IT
  With Armoire:     armoire backup verify FILE
  Without, unpack it and, in its folder:     sha256sum -c ${sumsEntry}
  The SHA-256 of the file ${sumsEntry} itself is the root hash that Armoire showed when it made this backup. All of this finds
  damage. A forger could have made other files with other sums; only a root hash that you kept elsewhere tells.

RESTORE IT
  armoire backup restore FILE --mirror mirror.sqlite
  makes a mirror of it, as it was, which Armoire can search, show and bring up to date again.

There is no password and no token in this backup.${area === "account" ? " It is somebody's private data all the same." : ""}
`;
}

/** What others named may hold anything, but no line of its own. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
