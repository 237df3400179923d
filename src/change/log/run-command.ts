/** Runs a program that reads the changes of a run on its standard input. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hasCode, messageOf } from "../../platform/errors.ts";
import { ChangeError } from "../errors.ts";
import { openChangeLog } from "./change-log.ts";
import { changeLogText, type LogFormat } from "./log-formats.ts";

export interface ChangeCommand {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly [string, ...string[]];
  readonly format: LogFormat;
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs the command with the changes of all runs after a run, unless there are none. Its output goes to stderr.
 * @param mirror the file
 * @param signal ends the command with SIGTERM
 * @throws ChangeError `command-failed` if it cannot be started or fails; PointError, MirrorError
 */
export async function runChangeCommand(
  { command: [program, ...args], format, env }: ChangeCommand,
  { mirror, after }: { readonly mirror: string; readonly after: number },
  signal?: AbortSignal,
): Promise<void> {
  const log = openChangeLog({ mirror, after });
  const failed = (how: string): ChangeError =>
    new ChangeError(
      "command-failed",
      `The command for changes ${how}.`,
      `The mirror is saved. \`armoire changes${after === 0 ? "" : ` --since ${after}`}\` shows the changes again.`,
    );
  try {
    if (isEmpty(log.entries())) return;
    let child: ReturnType<typeof start>;
    try {
      child = start(program, args, env);
    } catch (error) {
      throw failed(`could not be started: ${messageOf(error)}`);
    }
    signal?.addEventListener("abort", () => child.kill(), { once: true });
    const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    const text = changeLogText(log, format, { limit: Number.POSITIVE_INFINITY });
    const [ended, fed] = await Promise.allSettled([closed, pipeline(Readable.from(text), child.stdin)]);
    if (ended.status === "rejected") throw failed(`could not be started: ${messageOf(ended.reason)}`);
    // A program need not read its input to the end.
    if (fed.status === "rejected" && !closedInput.some((code) => hasCode(fed.reason, code))) throw fed.reason;
    const [exitCode, endSignal] = ended.value;
    if (exitCode !== 0) throw failed(`ended with ${endSignal ?? `exit code ${exitCode}`}`);
  } finally {
    log.close();
  }
}

/** Throws for an invalid name; that a program is missing shows only later. */
const start = (program: string, args: readonly string[], env: ChangeCommand["env"]) =>
  spawn(program, args, { env, stdio: ["pipe", process.stderr, process.stderr], windowsHide: true });

const closedInput = ["EPIPE", "ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"];

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _item of items) return false;
  return true;
}
