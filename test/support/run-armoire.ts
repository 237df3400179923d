/**
 * Runs the `armoire` program as a user does: as a process with a minimal environment. Takes arguments and settings, and
 * returns the exit code and the output, which must not contain a secret.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { main } from "../../src/cli/main.ts";
import { armoireProgram } from "./armoire-program.ts";
import { requireNoSecrets, requireNoSecretsIn } from "./canary.ts";

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface RunningArmoire {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  readonly result: Promise<CommandResult>;
}

/** Starts the program and does not wait for it. */
export function startArmoire(args: readonly string[], { env = {}, cwd }: RunOptions = {}): RunningArmoire {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const process_ = spawn(process.execPath, [armoireProgram, ...args], {
    env: {
      ...{ PATH, NODE_COMPILE_CACHE },
      // An empty home hides the developer's own settings. Files written there are searched for secrets too.
      HOME: join(tmpdir(), "nobody"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd !== undefined && { cwd }),
  });
  const result = Promise.all([text(process_.stdout), text(process_.stderr), once(process_, "close")]).then(
    ([stdout, stderr, [exitCode]]) => {
      // A sandbox prints its tokens on purpose.
      if (args[0] !== "sandbox") requireNoSecretsIn(stdout + stderr, args);
      return { stdout, stderr, exitCode: exitCode as number | null };
    },
  );
  return { process: process_, result };
}

export function runArmoire(args: readonly string[], options?: RunOptions): Promise<CommandResult> {
  return startArmoire(args, options).result;
}

let callsInFolder = 0;
let outerFolder = "";

/** @returns makes the folder before the first of overlapping calls this process's folder again, once all have ended */
function enterFolder(folder: string): () => void {
  if (callsInFolder++ === 0) outerFolder = process.cwd();
  process.chdir(folder);
  return () => {
    if (--callsInFolder === 0) process.chdir(outerFolder);
  };
}

/**
 * Runs a command within this process: starting a process takes longer than most commands. For commands that another test
 * runs as a program. Calls in different folders must not overlap. There is no terminal, no input and no interruption; the settings must be given as options.
 */
export async function callArmoire(
  args: readonly string[],
  { env = {}, cwd }: RunOptions = {},
): Promise<CommandResult> {
  const leave = cwd === undefined ? () => {} : enterFolder(cwd);
  const printed = { stdout: "", stderr: "" };
  let exitCode = 0;
  const write = (name: keyof typeof printed) => (text: string) => {
    printed[name] += text;
    return undefined;
  };
  await main(args, {
    env: { HOME: join(tmpdir(), "nobody"), ...env },
    ...{ isTerminal: false, columns: 80, screen: null, ask: null },
    readInput: async () => "",
    out: write("stdout"),
    hasReader: () => true,
    err: write("stderr"),
    rewriteLine: write("stderr"),
    setExitCode(code) {
      exitCode = code;
    },
    onInterrupt() {},
  }).finally(leave);
  requireNoSecretsIn(printed.stdout + printed.stderr, args);
  return { ...printed, exitCode };
}

/** A folder that is searched for secrets and removed at the end. Every test that writes files has one. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "armoire-"));
  return {
    path,
    async [Symbol.asyncDispose]() {
      await requireNoSecrets(path).finally(() => rm(path, { recursive: true, force: true }));
    },
  };
}
