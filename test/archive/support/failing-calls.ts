/** File-system calls that fail, one at a time, so that every step fails once; and a disk that stores other bytes. */
import fs from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

type Callable = (...args: unknown[]) => unknown;
type Calls = Record<string, Callable>;

const syncNames = [
  "openSync",
  "writeFileSync",
  "writeSync",
  "fsyncSync",
  "closeSync",
  "mkdirSync",
  "renameSync",
];
const promiseNames = ["open", "rename", "rmdir", "mkdtemp"];
const handleNames = ["sync"];

/**
 * @param failAt the number of the call that fails, from 1
 * @returns whether that call was made
 */
export async function withFailingCall(failAt: number, work: () => Promise<unknown>): Promise<boolean> {
  let calls = 0;
  const fail = (name: string, real: Callable): Callable =>
    function (this: unknown, ...args: unknown[]) {
      if (++calls === failAt) throw ioError(name);
      return real.apply(this, args);
    };
  await patched(
    [
      [fs as unknown as Calls, syncNames],
      [promises as unknown as Calls, promiseNames],
      [await handleCalls(), handleNames],
    ],
    fail,
    work,
  );
  return calls >= failAt;
}

/** A disk that silently stores other bytes than it is given. */
export async function withCorruptingDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  const corrupt = (_name: string, real: Callable): Callable =>
    function (this: unknown, file: unknown, bytes: unknown, ...args: unknown[]) {
      const written = Buffer.from(bytes as Buffer);
      written[written.length >> 1] = (written[written.length >> 1] ?? 0) ^ 1;
      return real.call(this, file, written, ...args);
    };
  return await patched([[fs as unknown as Calls, ["writeSync"]]], corrupt, work);
}

async function patched<Result>(
  owners: readonly (readonly [owner: Calls, names: readonly string[]])[],
  patch: (name: string, real: Callable) => Callable,
  work: () => Promise<Result>,
): Promise<Result> {
  const undo: (() => void)[] = [];
  for (const [owner, names] of owners) {
    for (const name of names) {
      const real = owner[name];
      if (real === undefined) throw new Error(`there is no call ${name}`);
      undo.push(() => {
        owner[name] = real;
      });
      owner[name] = patch(name, real);
    }
  }
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    for (const step of undo) step();
    syncBuiltinESMExports();
  }
}

async function handleCalls(): Promise<Calls> {
  return Object.getPrototypeOf(await someHandle()) as unknown as Calls;
}

async function someHandle(): Promise<FileHandle> {
  const handle = await promises.open(import.meta.filename);
  await handle.close();
  return handle;
}

function ioError(syscall: string): Error {
  return Object.assign(new Error(`EIO: i/o error, ${syscall}`), { code: "EIO", errno: -5, syscall });
}
