import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "./system-error.ts";

/**
 * Makes a folder, and those above it, where they are not there yet, for their owner alone. Node's own way does not end where
 * a folder is there and nothing can be made in it, as in `/proc`.
 * @returns those that it made, the innermost first
 * @throws a system error
 */
export function makeFolders(path: string): string[] {
  try {
    return makeOne(path) ? [path] : [];
  } catch (error) {
    if (!hasCode(error, "ENOENT") || dirname(path) === path) throw error;
  }
  const above = makeFolders(dirname(path));
  return makeOne(path) ? [path, ...above] : above;
}

/** @returns whether it was not there */
function makeOne(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST") && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}
