/** Files that users name for output: which existing files they may replace, and names that only Armoire itself writes. */
import { closeSync, existsSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { FileError } from "../errors.ts";

/** Names of Armoire's own files, in any folder; in lower case, since some file systems ignore case. */
const ownNames: readonly RegExp[] = [
  /\.lock$/,
  /\.holder\.json$/,
  /\.sqlite-(wal|shm|journal)(\.orphan-\d+)?$/,
  /\.sqlite\.new-/,
  /^\.armoire-partial-/,
  /^schedules\.json(\.new)?$/,
];

const accountNames = /^(account\.json|token|newest-backup\.json)(\.new)?$|^(mirror|ledger)\.sqlite$/;
const pictureNames = /^[0-9a-f]{64}\b/;

/**
 * An existing regular file may be replaced, unless it is one of Armoire's own, a mirror, or the database of another
 * program.
 * @throws FileError `not-replaceable`; a system error
 */
export function requireReplaceable(path: string): void {
  requireNotOwn(path);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isFile())
    throw new FileError("not-replaceable", `${path} is not a regular file.`, "Give another name.");
  if (hasApplicationId(path))
    throw new FileError(
      "not-replaceable",
      `${path} is a database of a program, such as a mirror.`,
      "It was not replaced. Give another name.",
    );
}

/**
 * Also refuses a file that does not exist yet: an output in its place would be taken for a lock or a token.
 * @throws FileError `not-replaceable` if this is the place of a file that only Armoire or SQLite writes
 */
export function requireNotOwn(path: string): void {
  if (!isOwn(path)) return;
  throw new FileError(
    "not-replaceable",
    `${path} is the place of one of Armoire's own files.`,
    "Nothing was written there. Give another name.",
  );
}

function isOwn(path: string): boolean {
  const named = dirname(resolve(path));
  const folder = existsSync(named) ? realpathSync(named) : named;
  const name = basename(path).toLowerCase();
  if (ownNames.some((own) => own.test(name)) || isPartOfDatabase(join(folder, basename(path)))) return true;
  if (accountNames.test(name))
    return isNamed(dirname(folder), "accounts") || existsSync(join(folder, "account.json"));
  return (
    (isNamed(folder, "media") && pictureNames.test(name)) ||
    (isNamed(folder, "schedule-runs") && /\.json(\.new)?$/.test(name))
  );
}

const isNamed = (folder: string, name: string): boolean => basename(folder).toLowerCase() === name;

/** Whether SQLite reads it together with the database beside it. */
function isPartOfDatabase(path: string): boolean {
  const main = path.replace(/-(wal|shm|journal)$/i, "");
  return main !== path && lstatSync(main, { throwIfNoEntry: false })?.isFile() === true && isSqlite(main);
}

const isSqlite = (path: string): boolean => readHeader(path).toString("latin1", 0, 15) === "SQLite format 3";

/** The header of an SQLite file has it at byte 68; exports have none. */
const hasApplicationId = (path: string): boolean => isSqlite(path) && readHeader(path).readUInt32BE(68) !== 0;

/** The rest is zeros if the file is shorter. */
function readHeader(path: string): Buffer {
  const handle = openSync(path, "r");
  try {
    const header = Buffer.alloc(72);
    readSync(handle, header);
    return header;
  } finally {
    closeSync(handle);
  }
}
