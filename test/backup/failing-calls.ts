/** Calls of the file system that fail, or kill, one after the other, so that every step of some work is seen to fail once. */
import fs from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

type Callable = (...args: unknown[]) => unknown;
type Calls = Record<string, Callable>;

const syncNames = ["openSync", "writeFileSync", "fsyncSync", "closeSync", "mkdirSync", "renameSync"];
const promiseNames = ["open", "rename", "rmdir", "mkdtemp"];
const handleNames = ["writeFile", "sync"];

/**
 * @param failAt the number of the call that fails, from 1
 * @returns whether that call was made
 */
export async function withFailingCall(failAt: number, work: () => Promise<unknown>): Promise<boolean> {
  let calls = 0;
  const undo: (() => void)[] = [];
  const patch = (owner: Calls, names: readonly string[]) => {
    for (const name of names) {
      const real = owner[name];
      if (real === undefined) throw new Error(`there is no call ${name}`);
      undo.push(() => {
        owner[name] = real;
      });
      owner[name] = function (this: unknown, ...args: unknown[]) {
        if (++calls === failAt) throw ioError(name);
        return real.apply(this, args);
      };
    }
  };
  const handles = Object.getPrototypeOf(await someHandle()) as unknown as Calls;
  patch(fs as unknown as Calls, syncNames);
  patch(promises as unknown as Calls, promiseNames);
  patch(handles, handleNames);
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const step of undo) step();
    syncBuiltinESMExports();
  }
  return calls >= failAt;
}

async function someHandle(): Promise<FileHandle> {
  const handle = await promises.open(import.meta.filename);
  await handle.close();
  return handle;
}

function ioError(syscall: string): Error {
  return Object.assign(new Error(`EIO: i/o error, ${syscall}`), { code: "EIO", errno: -5, syscall });
}
