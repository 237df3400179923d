/** Files that users name for output: which existing files they may replace, and names that only Armoire itself writes. */
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { FileError } from "../errors.ts";
import { isPrivateKey } from "../private-files.ts";
import { findDatabaseLog } from "./regular-files.ts";

/** Names of Armoire's own files, in any folder; in lower case, since some file systems ignore case. */
const ownNames: readonly RegExp[] = [
  /\.lock$/,
  /\.holder\.json$/,
  /\.sqlite-(wal|shm|journal)(\.orphan-\d+)?$/,
  /\.sqlite\.new-/,
  /^\.armoire-partial-/,
  /^schedules\.json(\.new)?$/,
  /^ledger\.sqlite$/,
];

const accountNames = /^(account\.json|token|newest-backup\.json)(\.new)?$|^mirror\.sqlite$/;
const pictureNames = /^[0-9a-f]{64}\b/;

/**
 * An existing regular file may be replaced, unless it is one of Armoire's own, a mirror, the database of another
 * program, or a private key. What a program has left beside an earlier database would be applied to a new one.
 * @throws FileError `not-replaceable`; a system error
 */
export function requireReplaceable(path: string): void {
  if (isPlaceOfCatalogue(path)) throw ownPlaceError(path);
  requireNotOwn(path);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile())
    throw new FileError("not-replaceable", `${path} is not a regular file.`, "Give another name.");
  if (stats !== undefined && hasApplicationId(path))
    throw new FileError(
      "not-replaceable",
      `${path} is a database of a program, such as a mirror.`,
      "It was not replaced. Give another name.",
    );
  if (stats !== undefined && isPrivateKey(path))
    throw new FileError(
      "not-replaceable",
      `${path} has a private key in it.`,
      "It was not replaced. Give another name.",
    );
  const log = findDatabaseLog(path);
  if (log !== null)
    throw new FileError(
      "not-replaceable",
      `${log} is there: SQLite reads it together with ${basename(path)}, which a program has open or left behind.`,
      "Nothing was written. Close that program, or give another name.",
    );
}

/**
 * Also refuses a file that does not exist yet: an output in its place would be taken for a lock or a token, or be erased with
 * the folder of an account.
 * @throws FileError `not-replaceable` if only Armoire or SQLite writes here, or in the folder
 */
export function requireNotOwn(path: string): void {
  if (isOwn(path) || isOwnFolder(placeOf(path))) throw ownPlaceError(path);
  if (foldersAround(dirname(resolve(path))).some(isOwnFolder))
    throw notReplaceable(`${path} is in one of Armoire's own folders.`);
}

const ownPlaceError = (path: string) => notReplaceable(`${path} is the place of one of Armoire's own files.`);

const notReplaceable = (problem: string) =>
  new FileError("not-replaceable", problem, "Nothing was written there. Give another name.");

/** Where the next sync would make its mirror; a mirror may be put there. */
const isPlaceOfCatalogue = (path: string): boolean =>
  /[\\/][^\\/]+-[0-9a-f]{8}[\\/]catalogue\.sqlite$/.test(resolve(path).toLowerCase());

/**
 * Also refuses a folder that does not exist yet, and a folder inside an own one: an account's folder is erased as a whole, and a
 * mirror takes the files of its own folder for pictures.
 * @throws FileError `not-replaceable`
 */
export function requireNotOwnFolder(path: string): void {
  if (!isOwn(path) && !foldersAround(path).some(isOwnFolder)) return;
  throw new FileError(
    "not-replaceable",
    `${path} is in one of Armoire's own folders.`,
    "Nothing was written there. Give another folder.",
  );
}

const keptNames = /^(schedules\.json|ledger\.sqlite|account\.json)$/;

/** Whether a regular file has mirrored data, an account, schedules or a ledger. @throws a system error */
export const isKeptFile = (path: string): boolean =>
  keptNames.test(basename(path).toLowerCase()) || hasApplicationId(path);

/**
 * Also refuses own folders that do not exist yet, which nothing else shows to be own ones.
 * @throws FileError `not-replaceable` for a place in this data directory that is, or is in, such a folder
 */
export function requireOutsideOwnFolders(path: string, dataDir: string): void {
  const [place, folder] = [placeOf(path), placeOf(dataDir)];
  const [first, second] = relative(folder.toLowerCase(), place.toLowerCase()).split(sep);
  const isOfMirror = first !== undefined && folderOfMirror.test(first);
  const mustBeFolder = foldersAround(dataDir).includes(place) || (isOfMirror && second === undefined);
  if (isOwn(path)) throw ownPlaceError(path);
  const isInOwn = first === "accounts" || first === "schedule-runs" || (isOfMirror && second === "media");
  if (isInOwn || (mustBeFolder && !isFolder(place)))
    throw notReplaceable(`${path} is the place of one of Armoire's own folders, or in one.`);
}

/** As `catalogueMirrorFile` names it. */
const folderOfMirror = /-[0-9a-f]{8}$/;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The path without links, as far as it exists. */
const placeOf = (path: string): string => foldersAround(path)[0] ?? resolve(path);

/** The folder itself, and all that it is in; without links, as far as they exist. */
function foldersAround(path: string): string[] {
  const place = resolve(path);
  const above = dirname(place);
  if (above === place) return [place];
  return existsSync(place)
    ? withAncestors(realpathSync(place))
    : [join(foldersAround(above)[0] ?? above, basename(place)), ...foldersAround(above)];
}

function withAncestors(place: string): string[] {
  const above = dirname(place);
  return above === place ? [place] : [place, ...withAncestors(above)];
}

function isOwnFolder(folder: string): boolean {
  const above = dirname(folder);
  if (isNamed(folder, "media")) return namesIn(above).some((name) => isMirror(join(above, name)));
  if (isNamed(folder, "schedule-runs")) return existsSync(join(above, "schedules.json"));
  if (isNamed(folder, "accounts"))
    return (
      existsSync(join(above, "ledger.sqlite")) ||
      namesIn(folder).some((name) => isAccount(join(folder, name)))
    );
  return isNamed(above, "accounts") && isAccount(folder);
}

const isAccount = (folder: string): boolean => existsSync(join(folder, "account.json"));

const isMirror = (path: string): boolean =>
  path.endsWith(".sqlite") &&
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true &&
  hasApplicationId(path);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It does not exist, or may not be read: then nothing can be written there either.
    return [];
  }
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
