import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What could not be read, and the system's word for why. */
export interface Unread {
  readonly path: string;
  readonly why: string;
}

/**
 * The regular files in a folder and below it; where symbolic links lead is left out.
 * @param unread gets what cannot be listed
 */
export function listFiles(folder: string, unread: Unread[]): string[] {
  let entries: Dirent[];
  try {
    if (statSync(folder).isFile()) return [folder];
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    unread.push({ path: folder, why: reasonOf(error) });
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path, unread);
    return entry.isFile() ? [path] : [];
  });
}

/** The system's code of an error, or else its words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
