/**
 * Loads a bundled script with what V8 compiled of it in an earlier process. Node's compile cache has only what V8 compiles when
 * it loads a file; most functions are compiled at their first call, again in each process. In: a script of
 * `rolldown.quick.config.ts`. Out: its exports, and a file in the folder of that cache that belongs to exactly this script.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, writevSync } from "node:fs";
import { createRequire, getCompileCacheDir } from "node:module";
import { dirname, join } from "node:path";
import { constants, Script } from "node:vm";

/** A script begins with its own digest, in a comment of this length; so does what was compiled of it. */
const headBytes = 48;

let store = (): void => {};

/** Stores what is compiled by now, if it was not stored before: for a process that will be killed. */
export function storeCompiled(): void {
  const storeOnce = store;
  store = () => {};
  storeOnce();
}

/**
 * The process stores what it has compiled when it exits, unless an earlier one did.
 * @param path of a script in ASCII: its head, and a function with the parameters of a CommonJS module
 * @param name of the stored file: uses of a script that call other functions have files of their own
 */
export function loadScript(path: string, name: string): unknown {
  const source = readFileSync(path);
  const head = source.subarray(0, headBytes);
  const folder = getCompileCacheDir();
  const file = folder === undefined ? null : join(folder, `armoire-${name}`);
  const cachedData = file === null ? undefined : readCompiled(file, head);
  const script = new Script(source.toString("latin1"), {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  if (file !== null && (cachedData === undefined || script.cachedDataRejected === true)) {
    store = () => writeCompiled(file, head, script.createCachedData());
    process.on("exit", storeCompiled);
  }
  const module = { exports: {} };
  const evaluate = script.runInThisContext();
  evaluate.call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
  return module.exports;
}

/** Nothing that another user could have written, or that belongs to another version of the script. */
function readCompiled(file: string, head: Buffer): Buffer | undefined {
  try {
    const fd = openSync(file, "r");
    try {
      if (fstatSync(fd).uid !== (process.getuid?.() ?? 0)) return undefined;
      const stored = readFileSync(fd);
      return stored.subarray(0, headBytes).equals(head) ? stored.subarray(headBytes) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** Whole or not at all, also after a power cut. Without it the next start only takes longer. */
function writeCompiled(file: string, head: Buffer, compiled: Buffer): void {
  try {
    const temporary = `${file}.${process.pid}`;
    const fd = openSync(temporary, "wx", 0o600);
    try {
      writevSync(fd, [head, compiled]);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  } catch {
    // A full disk, or a folder that cannot be written.
  }
}
