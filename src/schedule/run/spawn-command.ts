/** Runs a command of this program as a process of its own. In: arguments. Out: its exit code and output. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Clock } from "../../platform/clock.ts";
import { startErrorOf } from "../../platform/watched-processes.ts";

/** How to start this program. */
export interface Program {
  readonly command: string;
  /** The arguments before those of a command. */
  readonly args: readonly string[];
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SpawnOptions {
  readonly program: Program;
  readonly args: readonly string[];
  readonly folder: string;
  readonly clock: Pick<Clock, "sleep">;
  /**
   * Interrupts the command; the reason is the name of the signal to send. It then has ten seconds to save its state.
   */
  readonly signal: AbortSignal;
  /** Receives each line of stderr. */
  readonly onLine: (line: string) => void;
}

export interface CommandResult {
  /** Null if a signal ended it or it could not be started. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Why it could not be started, or the signal that ended it. */
  readonly problem: string | null;
}

/** From the interruption to SIGKILL. */
const shutdownMillis = 10_000;
/** From the end of a command to that of its output: a process that it leaves in the background may hold the pipes for ever. */
const drainMillis = 1000;
/** No report is as long. */
const maxStdoutLength = 4_194_304;

/** The program's own exit codes for these signals, for a process that dies before it handles them. */
const interruptedExitCodes: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };

const children = new Set<ChildProcess>();

/** Never rejects. */
export async function spawnCommand(options: SpawnOptions): Promise<CommandResult> {
  const { program, args, folder, clock, signal, onLine } = options;
  // Otherwise the operating system would report that the program is missing.
  if (!existsSync(folder))
    return { exitCode: null, stdout: "", problem: `the folder ${folder} does not exist any more` };
  const child = spawn(program.command, [...program.args, ...args], {
    cwd: folder,
    env: program.env,
    stdio: ["ignore", "pipe", "pipe"],
    // Ctrl-C in a terminal reaches all processes in the foreground. The child would receive it twice, and end at
    // once.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const startError = await startErrorOf(child);
  if (startError) return { exitCode: null, stdout: "", problem: startError.message };
  const ended = endOf(child, clock).then(
    ([exitCode, endSignal]) => ({
      exitCode: exitCode ?? (endSignal && interruptedExitCodes[endSignal]) ?? null,
      problem: endSignal === null || endSignal in interruptedExitCodes ? null : `ended by ${endSignal}`,
    }),
    (error: Error) => ({ exitCode: null, problem: error.message }),
  );
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    if (stdout.length < maxStdoutLength) stdout += chunk;
  });
  createInterface({ input: child.stderr }).on("line", onLine);
  const exited = new AbortController();
  const interrupt = (): void => {
    child.kill(signal.reason === "SIGINT" ? "SIGINT" : "SIGTERM");
    clock.sleep(shutdownMillis, exited.signal).then(
      () => child.kill("SIGKILL"),
      () => {},
    );
  };
  if (children.size === 0) process.on("exit", terminateChildren);
  children.add(child);
  if (signal.aborted) interrupt();
  else signal.addEventListener("abort", interrupt, { once: true });
  const { exitCode, problem } = await ended;
  exited.abort();
  signal.removeEventListener("abort", interrupt);
  children.delete(child);
  if (children.size === 0) process.off("exit", terminateChildren);
  return { exitCode, stdout, problem };
}

/** @throws the error of the process */
async function endOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
  clock: SpawnOptions["clock"],
): Promise<readonly [exitCode: number | null, signal: NodeJS.Signals | null]> {
  const drained = new AbortController();
  child.once("close", () => drained.abort());
  const [exitCode, signal] = await once(child, "exit");
  await clock.sleep(drainMillis, drained.signal).catch(() => {});
  child.stdout.destroy();
  child.stderr.destroy();
  return [exitCode, signal];
}

/** A second signal ends this process at once; the children must not outlive it. */
function terminateChildren(): void {
  for (const child of children) child.kill("SIGTERM");
}
