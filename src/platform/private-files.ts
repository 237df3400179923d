/** Files and folders of one user: refused if other users could read, change or replace them. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { isAbsolute, join, parse, resolve, sep } from "node:path";
import { replaceFile } from "./atomic-file.ts";
import { FileError, hasCode, toFileError } from "./errors.ts";
import { openRegularFile } from "./files/regular-files.ts";

/** Of a file with a secret or with settings, in bytes. */
export const maxPrivateBytes = 65_536;
const accessByOthers = 0o077;
const writableByOthers = 0o022;
const sticky = 0o1000;

/** Replaces the file; durable on return. @throws FileError `unwritable` */
export function writePrivateFile(file: string, text: string): void {
  try {
    replaceFile(file, text);
  } catch (error) {
    throw toFileError(error, file);
  }
}

export interface ReadPrivateOptions {
  /** For a file that the user named; never for one of ours. */
  readonly followsLinks: boolean;
  /** Also accepts a file of root, such as a credential that systemd passes to a service. */
  readonly acceptsSystemFile?: boolean;
  /** Default: 65,536. */
  readonly maxBytes?: number;
}

/**
 * @returns its text; null if there is no such file
 * @throws FileError `unsafe` if others could read or have written it, or it is too long; `unwritable` if it cannot be
 * read
 */
export function readPrivateFile(
  file: string,
  { followsLinks, acceptsSystemFile = false, maxBytes = maxPrivateBytes }: ReadPrivateOptions,
): string | null {
  // O_NONBLOCK: opening a pipe must not wait for its other end. Windows knows neither flag.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let handle: number;
  try {
    handle = openSync(file, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw toFileError(error, file);
  }
  try {
    if (!(acceptsSystemFile && isSystemFile(handle))) requireOwnerOnly(file, handle, followsLinks);
    const bytes = Buffer.alloc(maxBytes);
    const length = readSync(handle, bytes);
    if (length === maxBytes)
      throw new FileError("unsafe", `${file} is larger than expected.`, "Check that it is the right file.");
    return bytes.toString("utf8", 0, length);
  } catch (error) {
    throw toFileError(error, file);
  } finally {
    closeSync(handle);
  }
}

/** Owned by root, writable only by root, and readable at most by its group. */
function isSystemFile(handle: number): boolean {
  const { uid, mode } = fstatSync(handle);
  return uid === 0 && (mode & 0o137) === 0;
}

/** @param isNamed whether the user names the file, as that of a secret */
function requireOwnerOnly(file: string, handle: number, isNamed: boolean): void {
  const stats = fstatSync(handle);
  if (!stats.isFile())
    throw new FileError(
      "unsafe",
      `${file} is not a regular file.`,
      isNamed ? "Name a file; for a pipe there is --token-stdin." : "Move it away.",
    );
  // Windows has no such owners and modes.
  if (process.platform === "win32") return;
  if (stats.uid !== process.geteuid?.())
    throw new FileError(
      "unsafe",
      `${file} belongs to another user of this machine.`,
      "Use a file of your own.",
    );
  if ((stats.mode & accessByOthers) !== 0)
    throw new FileError("unsafe", `Other users may read or write ${file}.`, `Run: chmod 600 '${file}'`);
}

/**
 * @param stats of the path itself, not of the target of a link
 * @throws FileError `unsafe` unless it is a folder that only its owner may change
 */
export function requireOwnFolder(path: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw symbolicLinkError(path);
  if (!stats.isDirectory())
    throw new FileError("unsafe", `${path} is not a folder.`, "Move it away, or use another --data-dir.");
  // Windows has no such owners and modes.
  if (process.platform === "win32") return;
  if (stats.uid !== process.geteuid?.()) {
    throw new FileError(
      "unsafe",
      `The folder ${path} belongs to another user of this machine, who could read or change its files.`,
      "Use another --data-dir.",
    );
  }
  if ((stats.mode & writableByOthers) === 0) return;
  throw new FileError(
    "unsafe",
    `Other users may write to the folder ${path}. Private data is not kept or used there.`,
    `Run: chmod go-w '${path}'`,
  );
}

/**
 * A user who owns a folder, or may write to it, can replace its entries.
 * @throws FileError `unsafe` if other users can do so in a folder above `path`, which need not exist
 */
export function requireUnreplaceable(path: string): void {
  // Windows has no such owners and modes.
  if (process.platform === "win32") return;
  const named = resolve(path);
  for (const { folder, entry } of entriesOnTheWay(named)) {
    const stats = statSync(folder);
    if (!isTrusted(stats.uid))
      throw new FileError(
        "unsafe",
        `The folder ${folder} belongs to another user of this machine, who could replace ${named}.`,
        "Use another --data-dir.",
      );
    if (!isReplaceable(entry, stats)) continue;
    if ((stats.mode & sticky) !== 0)
      throw new FileError(
        "unsafe",
        `A link in ${folder} on the way to ${named} belongs to another user of this machine, who could replace it.`,
        "Use another --data-dir.",
      );
    throw new FileError(
      "unsafe",
      `Other users may write to the folder ${folder} and so replace ${named}. Private data is not kept or used there.`,
      `Run: chmod go-w '${folder}', or use another --data-dir.`,
    );
  }
}

/** As Linux follows at most. */
const maxLinks = 40;

/**
 * The folders in which the system looks up the parts of a path, and of the links in it, with what it finds there: undefined for
 * the first part that does not exist, which is the last.
 */
function* entriesOnTheWay(path: string): Generator<{ folder: string; entry: Stats | undefined }> {
  let folder = parse(path).root;
  let links = 0;
  for (let parts = partsOf(path); parts.length > 0; ) {
    const [name = "", ...others] = parts;
    const place = join(folder, name);
    const entry = lstatSync(place, { throwIfNoEntry: false });
    yield { folder, entry };
    if (entry === undefined) return;
    if (!entry.isSymbolicLink()) [folder, parts] = [place, others];
    else {
      if (++links > maxLinks) throw symbolicLinkError(path);
      const target = readlinkSync(place);
      // As the system does, `..` leads up from where the parts before it have led.
      [folder, parts] = [isAbsolute(target) ? parse(target).root : folder, [...partsOf(target), ...others]];
    }
  }
}

const partsOf = (path: string): string[] =>
  path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((part) => part !== "");

/** Root can do everything anyway. */
const isTrusted = (uid: number): boolean => uid === 0 || uid === process.geteuid?.();

/**
 * Whether other users may rename an entry of a folder. With the sticky bit, as on /tmp, each may rename only their own; the owner
 * of a folder is examined with its own entries.
 */
function isReplaceable(entry: Stats | undefined, { mode }: Stats): boolean {
  if ((mode & sticky) !== 0) return entry?.isSymbolicLink() === true && !isTrusted(entry.uid);
  // Also if the group is the owner's own: these bits are the mask of an access control list, which may name other users.
  return (mode & writableByOthers) !== 0;
}

export function symbolicLinkError(path: string): FileError {
  return new FileError(
    "unsafe",
    `${path} is a symbolic link, which is not followed.`,
    "Put its target in its place, or use another --data-dir.",
  );
}

/** Whether a regular file has a private key in PEM, as OpenSSL, OpenSSH and Armoire write it, in its first 65,536 bytes. */
export function isPrivateKey(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return false;
  const handle = openRegularFile(path);
  try {
    const bytes = Buffer.alloc(Math.min(stats.size, maxPrivateBytes));
    const text = bytes.toString("latin1", 0, readSync(handle, bytes));
    // At the beginning of a line, or after a byte order mark. UTF-16 has NULs between the letters.
    return /^[\u0080-\u00ff]{0,3}-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----/m.test(text.replaceAll("\0", ""));
  } finally {
    closeSync(handle);
  }
}
