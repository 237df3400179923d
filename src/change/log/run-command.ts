/** Runs a program that reads the changes of a run on its standard input. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hasCode, messageOf } from "../../platform/errors.ts";
import { startErrorOf } from "../../platform/watched-processes.ts";
import { ChangeError } from "../errors.ts";
import { openChangeLog } from "./change-log.ts";
import { changeLogText, type LogFormat } from "./log-formats.ts";

export interface ChangeCommand {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly [string, ...string[]];
  /** What its standard input gets. */
  readonly format: LogFormat;
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What became of a command; all runs after `after` up to `to` were passed to it. */
export interface ChangeCommandOutcome {
  /** Without its arguments, which may hold a secret. */
  readonly program: string;
  /** The number of a run, as `to`. */
  readonly after: number;
  readonly to: number;
  /** Null if it was ended by a signal, or could not be started. */
  readonly exitCode: number | null;
  /** The signal that ended it; else null. */
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started, or else null. */
  readonly startError: string | null;
}

/**
 * Runs the command with the changes of all runs after a run, unless there are none. Its output goes to stderr.
 * @param mirror the file
 * @param beforeStart called if there are changes
 * @param signal ends the command with SIGTERM
 * @returns null if there are no changes
 * @throws PointError, MirrorError
 */
export async function runChangeCommand(
  { command: [program, ...args], format, env }: ChangeCommand,
  { mirror, after }: { readonly mirror: string; readonly after: number },
  signal?: AbortSignal,
  beforeStart: () => Promise<void> = async () => {},
): Promise<ChangeCommandOutcome | null> {
  const log = openChangeLog({ mirror, after });
  const about = { program, after, to: log.to.run };
  const notStarted = (error: unknown): ChangeCommandOutcome => ({
    ...about,
    ...{ exitCode: null, signal: null, startError: messageOf(error) },
  });
  try {
    if (isEmpty(log.entries())) return null;
    await beforeStart();
    let child: ReturnType<typeof start>;
    try {
      child = start(program, args, env);
    } catch (error) {
      return notStarted(error);
    }
    const startError = await startErrorOf(child);
    if (startError) return notStarted(startError);
    signal?.addEventListener("abort", () => child.kill(), { once: true });
    const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    const text = changeLogText(log, format, { limit: Number.POSITIVE_INFINITY });
    const [ended, fed] = await Promise.allSettled([closed, pipeline(Readable.from(text), child.stdin)]);
    if (ended.status === "rejected") return notStarted(ended.reason);
    // A program need not read its input to the end.
    if (fed.status === "rejected" && !closedInput.some((code) => hasCode(fed.reason, code))) throw fed.reason;
    const [exitCode, endSignal] = ended.value;
    return { ...about, exitCode, signal: endSignal, startError: null };
  } finally {
    log.close();
  }
}

/** Null for a command that succeeded. */
export function errorOfCommand(outcome: ChangeCommandOutcome): ChangeError | null {
  const { after, exitCode, signal, startError } = outcome;
  if (exitCode === 0) return null;
  const how =
    startError === null
      ? `ended with ${signal ?? `exit code ${exitCode}`}`
      : `could not be started: ${startError}`;
  return new ChangeError(
    "command-failed",
    `The command for changes ${how}.`,
    `The mirror is saved. The next sync with --on-change passes these changes again, and \`armoire changes${after === 0 ? "" : ` --since ${after}`}\` shows them.`,
  );
}

/** Throws for an invalid name; that a program is missing shows only later. */
const start = (program: string, args: readonly string[], env: ChangeCommand["env"]) =>
  spawn(program, args, { env, stdio: ["pipe", process.stderr, process.stderr], windowsHide: true });

const closedInput = ["EPIPE", "ECONNRESET", "ECANCELED", "ERR_STREAM_PREMATURE_CLOSE"];

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _item of items) return false;
  return true;
}
