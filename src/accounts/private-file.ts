/** Small files that only their owner may read: written whole or not at all, and refused where others could read them. */
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../mirror/file/sync-folder.ts";
import { hasCode } from "../mirror/file/system-error.ts";
import { writeNewFile } from "../mirror/file/write-new-file.ts";
import { AccountError, toAccountError } from "./errors.ts";

const usualMostBytes = 65_536;
const openToOthers = 0o077;

/** Replaces the file; it is durable when this returns. @throws AccountError `unwritable` */
export function writePrivateFile(file: string, text: string): void {
  const partial = `${file}.new`;
  try {
    rmSync(partial, { force: true });
    writeNewFile(partial, text);
    renameSync(partial, file);
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(partial, { force: true });
    throw toAccountError(error, file);
  }
}

export interface ReadingPrivately {
  /** For a file that the user names; never for one of ours. */
  readonly followsLinks: boolean;
  /** For one that the system hands over to a service. */
  readonly isHandedOver?: boolean;
  readonly mostBytes?: number;
}

/**
 * @returns its text; null where there is no such file
 * @throws AccountError `unsafe` where others could read or have written it, `unwritable` where it cannot be read
 */
export function readPrivateFile(
  file: string,
  { followsLinks, isHandedOver = false, mostBytes = usualMostBytes }: ReadingPrivately,
): string | null {
  // Not to wait for ever for the other end of a pipe. Windows knows neither flag.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let handle: number;
  try {
    handle = openSync(file, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw toAccountError(error, file);
  }
  try {
    if (!(isHandedOver && isOfSystem(handle))) requireOwnerOnly(file, handle);
    const bytes = Buffer.alloc(mostBytes);
    const length = readSync(handle, bytes);
    if (length === mostBytes)
      throw new AccountError(
        "unsafe",
        `${file} is far too long to be what it should be.`,
        "Check which file it is.",
      );
    return bytes.toString("utf8", 0, length);
  } catch (error) {
    throw toAccountError(error, file);
  } finally {
    closeSync(handle);
  }
}

/** As systemd hands a credential to a service: the system's own, which nobody can change and only some group may read. */
function isOfSystem(handle: number): boolean {
  const { uid, mode } = fstatSync(handle);
  return uid === 0 && (mode & 0o137) === 0;
}

function requireOwnerOnly(file: string, handle: number): void {
  const stats = fstatSync(handle);
  if (!stats.isFile())
    throw new AccountError(
      "unsafe",
      `${file} is no regular file.`,
      "Name a file; for a pipe there is --token-stdin.",
    );
  // Windows has no such owners and modes.
  if (process.platform === "win32") return;
  if (stats.uid !== process.geteuid?.())
    throw new AccountError(
      "unsafe",
      `${file} belongs to another user of this machine.`,
      "Use a file of your own.",
    );
  if ((stats.mode & openToOthers) !== 0)
    throw new AccountError("unsafe", `Others may read or write ${file}.`, `Run: chmod 600 '${file}'`);
}
