/** A run is a process of its own, of this very program. In: arguments. Out: how it ended and what it said. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Clock } from "../../platform/clock.ts";

/** How to start this program. */
export interface Program {
  readonly command: string;
  /** What goes before a command's own arguments. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SpawnOptions {
  readonly program: Program;
  readonly args: readonly string[];
  readonly folder: string;
  readonly clock: Pick<Clock, "sleep">;
  /** Asks it to end, with the name of the signal as the reason; it has ten seconds to save what it has. */
  readonly ending: AbortSignal;
  /** Told each line of what it says on stderr. */
  readonly onLine: (line: string) => void;
}

export interface CommandResult {
  /** Null where a signal ended it, or it could not be started. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Why it could not be started, or the signal that ended it. */
  readonly problem: string | null;
}

/** To end in; what was fetched is saved within. */
const goodbyeMillis = 10_000;
/** No report is as long; memory is not to depend on what is printed. */
const mostOutput = 4_194_304;

/** What the program ends with itself, once it has come so far as to hear them. */
const interrupted: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };

const children = new Set<ChildProcess>();

/** Never rejects. */
export async function spawnCommand(options: SpawnOptions): Promise<CommandResult> {
  const { program, args, folder, clock, ending, onLine } = options;
  // The system would say that the program is missing.
  if (!existsSync(folder))
    return { exitCode: null, stdout: "", problem: `there is no folder ${folder} any more` };
  const child = spawn(program.command, [...program.args, ...args], {
    cwd: folder,
    env: program.env,
    stdio: ["ignore", "pipe", "pipe"],
    // Ctrl-C at a terminal goes to everybody in the foreground: it would reach the child twice, and the second one ends it at once.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const closed = once(child, "close").then(
    ([exitCode, signal]) => ({
      exitCode: exitCode ?? interrupted[signal] ?? null,
      problem: signal === null || signal in interrupted ? null : `ended by ${signal}`,
    }),
    (error: Error) => ({ exitCode: null, problem: error.message }),
  );
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    if (stdout.length < mostOutput) stdout += piece;
  });
  createInterface({ input: child.stderr }).on("line", onLine);
  const over = new AbortController();
  const end = (): void => {
    child.kill(ending.reason === "SIGINT" ? "SIGINT" : "SIGTERM");
    clock.sleep(goodbyeMillis, over.signal).then(
      () => child.kill("SIGKILL"),
      () => {},
    );
  };
  if (children.size === 0) process.on("exit", tellChildren);
  children.add(child);
  if (ending.aborted) end();
  else ending.addEventListener("abort", end, { once: true });
  const { exitCode, problem } = await closed;
  over.abort();
  ending.removeEventListener("abort", end);
  children.delete(child);
  if (children.size === 0) process.off("exit", tellChildren);
  return { exitCode, stdout, problem };
}

/** A second signal ends this process at once, and the children with it. */
function tellChildren(): void {
  for (const child of children) child.kill("SIGTERM");
}
