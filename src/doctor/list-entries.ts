/** Lists what a search of folders has to look into. */
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";

/** A file or folder that could not be read. */
export interface UnreadableFile {
  readonly path: string;
  /** The system's error code. */
  readonly why: string;
}

/** Something in a searched folder. */
export interface Entry {
  /** For people. */
  readonly path: string;
  /** To open it by: bytes if its name is not UTF-8. */
  readonly place: string | Buffer;
  readonly is: "file" | "link" | "empty-folder" | "special";
}

/**
 * What is in a folder and below it, without folders that hold something. Symbolic links are not followed.
 * @param unreadable receives the folders that cannot be listed
 */
export function listEntries(folder: string | Buffer, unreadable: UnreadableFile[]): Entry[] {
  const path = folder.toString();
  let entries: Dirent<Buffer>[];
  try {
    if (statSync(folder).isFile()) return [{ path, place: folder, is: "file" }];
    entries = readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    unreadable.push({ path, why: reasonOf(error) });
    return [];
  }
  if (entries.length === 0) return [{ path, place: folder, is: "empty-folder" }];
  const before = Buffer.from(
    folder.toString().endsWith(sep) ? folder : Buffer.concat([Buffer.from(folder), Buffer.from(sep)]),
  );
  return entries.flatMap((entry) => {
    const place = textIfExact(Buffer.concat([before, entry.name]));
    if (entry.isDirectory()) return listEntries(place, unreadable);
    const is = entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : "special";
    return [{ path: place.toString(), place, is }];
  });
}

function textIfExact(bytes: Buffer): string | Buffer {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : bytes;
}

/** Whether a link leads to something outside the searched folders. */
export function leadsOut(link: string | Buffer, places: readonly string[]): boolean {
  let target: string;
  try {
    target = realpathSync(link).toString();
  } catch {
    // It leads to nothing.
    return false;
  }
  return !places.some((folder) => {
    const real = realpathSync(folder);
    return target === real || target.startsWith(real.endsWith(sep) ? real : real + sep);
  });
}

/** The system's error code, or else the message. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
