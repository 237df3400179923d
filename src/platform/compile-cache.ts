import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/**
 * The complete environment for our own threads and child processes: the folder of V8's compile cache, if this process
 * uses one. It halves their start. Nothing else is passed on, since variables may hold secrets.
 */
export function compileCacheEnvironment(): { readonly NODE_COMPILE_CACHE?: string } {
  const used = getCompileCacheDir();
  // Node appends a folder for its own version.
  return used === undefined ? {} : { NODE_COMPILE_CACHE: dirname(used) };
}
