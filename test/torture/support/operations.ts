/** Runs a program with the shim, and reads the record of its file operations. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** As in shim.c. */
export const ops = {
  create: 1,
  open: 2,
  write: 3,
  sync: 4,
  syncFolder: 5,
  truncate: 6,
  rename: 7,
  unlink: 8,
  makeFolder: 9,
  removeFolder: 10,
  link: 11,
  symlink: 12,
  close: 13,
  read: 14,
  openForReading: 15,
} as const;

export type Op = keyof typeof ops;

const opNames = Object.fromEntries(Object.entries(ops).map(([name, code]) => [code, name as Op]));

/** Every operation that changes or flushes something. */
export const changes = (Object.keys(ops) as Op[]).filter((op) => op !== "read" && op !== "openForReading");

export interface Operation {
  readonly op: Op;
  /** Epoch milliseconds. */
  readonly at: number;
  /** 0 if it succeeded. */
  readonly errno: number;
  /** Of the open file; 0 for operations on names. */
  readonly inode: number;
  /** Where data was written; the new length of a truncation; 1 for opening that truncates; the inode of a closed file. */
  readonly offset: number;
  readonly path: string;
  readonly target: string;
  readonly data: Buffer;
}

export const errnos = { EIO: 5, EMFILE: 24, ENOSPC: 28 } as const;
export type ErrorName = keyof typeof errnos;

/** What happens at the `at`-th operation of these kinds, from 1. */
export type Disturbance =
  | { readonly action: "kill" | "tear"; readonly at: number; readonly kinds: readonly Op[] }
  | {
      readonly action: "fail";
      readonly at: number;
      readonly kinds: readonly Op[];
      readonly error: ErrorName;
      /** Whether all later operations of these kinds fail too. */
      readonly isPersistent: boolean;
    };

export interface Execution {
  /** Null when it was killed. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly operations: readonly Operation[];
  /** Whether the disturbance happened. */
  readonly wasDisturbed: boolean;
  readonly hasTimedOut: boolean;
}

export interface Execute {
  readonly shim: string;
  /** Only operations below this folder count. */
  readonly root: string;
  /** For the record; outside the root. */
  readonly scratch: string;
  /** A Node program and its arguments. */
  readonly args: readonly string[];
  readonly disturbance?: Disturbance;
}

const timeoutMillis = 120_000;
const stateBytes = 4096;

export async function execute({ shim, root, scratch, args, disturbance }: Execute): Promise<Execution> {
  const state = join(scratch, "state");
  const log = join(scratch, "log");
  writeFileSync(state, Buffer.alloc(stateBytes));
  writeFileSync(log, "");
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [...args], {
    env: {
      ...{ PATH, NODE_COMPILE_CACHE, HOME: join(scratch, "nobody") },
      // Requests to io_uring would pass by the C library.
      ...{ LD_PRELOAD: shim, UV_USE_IO_URING: "0" },
      ...{ TORTURE_ROOT: root, TORTURE_STATE: state, TORTURE_LOG: log },
      ...settingsOf(disturbance),
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, which the shim kills.
    detached: true,
  });
  let hasTimedOut = false;
  const timer = setTimeout(() => {
    hasTimedOut = true;
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, timeoutMillis);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  clearTimeout(timer);
  const fired = readFileSync(state).readBigUInt64LE(8) > 0n;
  return {
    exitCode: exitCode as number | null,
    stdout,
    stderr,
    operations: [...readOperations(readFileSync(log))],
    wasDisturbed: fired || exitCode === null,
    hasTimedOut,
  };
}

function settingsOf(disturbance: Disturbance | undefined): Record<string, string> {
  const actions = { record: 0, kill: 1, tear: 2, fail: 3 };
  if (disturbance === undefined)
    return { TORTURE_ACTION: "0", TORTURE_COUNTED: String(maskOf(Object.keys(ops) as Op[])) };
  const mask = String(maskOf(disturbance.kinds));
  return {
    TORTURE_ACTION: String(actions[disturbance.action]),
    TORTURE_AT: String(disturbance.at),
    TORTURE_COUNTED: mask,
    ...(disturbance.action === "fail" && {
      TORTURE_OPS: mask,
      TORTURE_ERRNO: String(errnos[disturbance.error]),
      TORTURE_PERSISTENT: disturbance.isPersistent ? "1" : "0",
    }),
  };
}

const maskOf = (kinds: readonly Op[]): number => kinds.reduce((mask, kind) => mask | (1 << ops[kind]), 0);

const headerBytes = 56;

function* readOperations(log: Buffer): Generator<Operation> {
  for (let at = 0; at + headerBytes <= log.length; ) {
    const length = Number(log.readBigUInt64LE(at + 32));
    const code = log.readUInt32LE(at + 40);
    const pathLength = log.readUInt32LE(at + 48);
    const targetLength = log.readUInt32LE(at + 52);
    const path = at + headerBytes;
    const target = path + pathLength;
    const data = target + targetLength;
    const op = opNames[code];
    if (op === undefined) throw new Error(`The record of operations is damaged at ${at}`);
    yield {
      op,
      at: Number(log.readBigUInt64LE(at + 8) / 1_000_000n),
      errno: log.readUInt32LE(at + 44),
      inode: Number(log.readBigUInt64LE(at + 16)),
      offset: Number(log.readBigInt64LE(at + 24)),
      path: log.toString("utf8", path, target),
      target: log.toString("utf8", target, data),
      data: log.subarray(data, data + length),
    };
    at = data + length;
  }
}
