/**
 * Opening files that the user or another program may have replaced: only regular files are opened. A named pipe would
 * block without end, a device may have no end, and a link to nothing would create its target.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { FileError } from "../errors.ts";

/**
 * Opens a file for reading; links are followed.
 * @returns the descriptor
 * @throws FileError `not-a-file`; a system error
 */
export function openRegularFile(path: string | Buffer): number {
  // O_NONBLOCK: opening a pipe must not wait for its other end. Windows does not know it.
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  const handle = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw notAFile(path, stats);
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/**
 * Reads a whole file; links are followed.
 * @throws FileError `not-a-file`, or `too-large` beyond `maxBytes`; a system error
 */
export function readRegularFile(path: string, maxBytes: number): Buffer {
  const handle = openRegularFile(path);
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; ; ) {
      // Files in /proc have no size, so each is read to its end.
      const chunk = Buffer.alloc(Math.min(chunkBytes, maxBytes + 1 - length));
      const read = readSync(handle, chunk);
      if (read === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, read));
      length += read;
      if (length > maxBytes) throw tooLarge(path, maxBytes);
    }
  } finally {
    closeSync(handle);
  }
}

const chunkBytes = 65_536;

export function tooLarge(name: string, maxBytes: number): FileError {
  const message = `${name} is larger than ${maxBytes} bytes, the most that is read.`;
  return new FileError("too-large", message, "Check that it is the right file.");
}

/**
 * For files that SQLite opens by name. Nothing is checked if there is no file.
 * @returns whether there is a file
 * @throws FileError `not-a-file`, also for a link to nothing
 */
export function requireRegularFile(path: string): boolean {
  // The name is looked up first: between two look-ups, another process may create the file.
  const named = lstatSync(path, { throwIfNoEntry: false });
  if (named === undefined) return false;
  const stats = (named.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })) || named;
  if (!stats.isFile()) throw notAFile(path, stats);
  return true;
}

/**
 * SQLite keeps its locks and its log by name, so two programs that write a database under two names damage it.
 * @throws FileError `unwritable` if the file has several hard links, or is mounted by itself
 */
export function requireOneName(path: string): void {
  if (statSync(path).nlink > 1)
    throw new FileError(
      "unwritable",
      `${path} has another name, too (a hard link): to write it under both would damage it.`,
      "Copy it, or remove the other name, which `find / -xdev -samefile` shows.",
    );
  if (isMounted(path))
    throw new FileError(
      "unwritable",
      `${path} is mounted by itself and has another name, too: to write it under both would damage it.`,
      "Mount its folder instead, as in `docker run --volume FOLDER:FOLDER`.",
    );
}

/** Whether a file is a place where something is mounted, as a container's volume of one file. Known on Linux only. */
function isMounted(path: string): boolean {
  const mounts = readIfThere("/proc/self/mountinfo");
  if (mounts === null) return false;
  const place = realpathSync(path);
  return mounts.split("\n").some((line) => unescapeMount(line.split(" ")[4] ?? "") === place);
}

/** The kernel writes blanks, tabs, line ends and backslashes as octal numbers. */
const unescapeMount = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/**
 * As `requireRegularFile`, for a database and the files that SQLite opens beside it.
 * @returns whether there is a database
 */
export function requireDatabaseFile(path: string): boolean {
  const isThere = requireRegularFile(path);
  for (const suffix of logSuffixes) requireRegularFile(path + suffix);
  return isThere;
}

const logSuffixes = ["-journal", "-wal", "-shm"];

/** A file or whatever else is in the place of one that SQLite reads together with the database; null if nothing is. */
export function findDatabaseLog(path: string): string | null {
  const places = logSuffixes.map((suffix) => path + suffix);
  return places.find((place) => lstatSync(place, { throwIfNoEntry: false }) !== undefined) ?? null;
}

/** As `requireRegularFile`, for a file that only Armoire makes: a link is refused too. */
export function requireOwnFile(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (!stats.isFile()) throw notAFile(path, stats);
  return true;
}

function notAFile(path: string | Buffer, stats: Stats): FileError {
  return new FileError(
    "not-a-file",
    `${path} is ${describeType(stats)}, not a regular file.`,
    "Move it away, or name another file.",
  );
}

function describeType(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isSymbolicLink() ? "a symbolic link" : "a device";
}
