import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../support/run-armoire.ts";

export async function makeTestFolder(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  return folder.path;
}

/** Everything below a folder by path: the contents of files, and the types of other entries. */
export async function folderState(folder: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const path of (await readdir(folder, { recursive: true })).sort()) {
    const stats = await lstat(join(folder, path));
    if (stats.isFile()) state[path] = (await readFile(join(folder, path))).toString("latin1");
    else state[path] = stats.isDirectory() ? "(folder)" : "(other)";
  }
  return state;
}
