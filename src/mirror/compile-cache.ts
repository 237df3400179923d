/** Loading code in half the time, also in the threads and processes that read and write mirrors. */
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/**
 * The whole environment of a thread or process of our own: where compiled code is kept, if anywhere, and nothing else,
 * since there may be secrets in what is left out.
 */
export function compileCacheEnvironment(): { readonly NODE_COMPILE_CACHE?: string } {
  const used = getCompileCacheDir();
  // Node itself adds a folder for its own version.
  return used === undefined ? {} : { NODE_COMPILE_CACHE: dirname(used) };
}
