/** Whether a disk has room for what is about to be written, so that a full one is noticed before work begins. */
import { statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { FileError, hasCode } from "../errors.ts";

/** Reads the free bytes of a folder's disk; null if the system does not know them. @throws a system error */
export type ReadFreeBytes = (folder: string) => number | null;

const mebibyte = 2 ** 20;

/** Written by any operation besides its data: logs, checksums, names. */
export const workingBytes = 32 * mebibyte;

const readFreeBytes: ReadFreeBytes = (folder) => {
  const { bavail, blocks, bsize } = statfsSync(folder);
  // Such as /proc.
  return blocks === 0 ? null : bavail * bsize;
};

export interface SpaceRequest {
  /** Need not exist. */
  readonly folder: string;
  /** A lower bound: with less, the operation certainly fails. */
  readonly bytes: number;
  /** The beginning of a sentence, such as "The export". */
  readonly purpose: string;
}

/**
 * @param read default: the system's
 * @returns the free bytes; null if they are not known
 * @throws FileError `disk-full`
 */
export function requireFreeSpace(
  { folder, bytes, purpose }: SpaceRequest,
  read: ReadFreeBytes = readFreeBytes,
): number | null {
  const free = freeBytesOf(resolve(folder), read);
  if (free === null || free >= bytes) return free;
  throw new FileError(
    "disk-full",
    `${purpose} needs at least ${toMebibytes(bytes)} MiB, and the disk of ${folder} has ${toMebibytes(free)} MiB free.`,
    "Make room, or use another disk.",
  );
}

/** The nearest folder that exists. An error is that of the operation, which comes later and can say more. */
function freeBytesOf(folder: string, read: ReadFreeBytes): number | null {
  try {
    return read(folder);
  } catch (error) {
    return hasCode(error, "ENOENT") && dirname(folder) !== folder ? freeBytesOf(dirname(folder), read) : null;
  }
}

/** Below this, a warning is useful: a first sync of a large catalogue takes as much. */
const lowBytes = 256 * mebibyte;

/** A warning if little is left; null for enough. @param free from `requireFreeSpace` */
export function describeLowSpace(folder: string, free: number | null): string | null {
  if (free === null || free >= lowBytes) return null;
  return `The disk of ${folder} has only ${toMebibytes(free)} MiB free.`;
}

const toMebibytes = (bytes: number): string => (bytes / mebibyte).toFixed(bytes < 10 * mebibyte ? 1 : 0);
