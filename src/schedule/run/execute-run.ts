/**
 * Executes one due run: starts its command, retries while the mirror is locked, and records the outcome. Both
 * schedulers use it.
 */
import { type Clock, toIso } from "../../platform/clock.ts";
import { recordRun, type ScheduledRun, type Scheduler } from "../run-history.ts";
import type { Schedule } from "../schedule.ts";
import { type Program, spawnCommand } from "./spawn-command.ts";
import { summarizeReport } from "./summarize-report.ts";

export interface ExecuteRunContext {
  readonly dataDir: string;
  readonly program: Program;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  /** Interrupts the run; the reason is the name of the signal to send to its process. */
  readonly signal: AbortSignal;
  /** Removes possible secrets from the output of a command. */
  readonly redact: (text: string) => string;
  /** @param due epoch milliseconds */
  readonly onStart: (schedule: Schedule, due: number) => void;
  /** Receives each line of stderr, redacted. */
  readonly onLine: (schedule: Schedule, line: string) => void;
  readonly onEnd: (schedule: Schedule, run: ScheduledRun) => void;
}

/** The program's exit code when another process writes the mirror. */
const lockedExitCode = 11;
/** Delays before a locked mirror is tried again. */
const lockedRetryMillis: readonly number[] = [10_000, 30_000, 60_000, 120_000];
const maxLineLength = 300;
const maxLines = 10;

/** @param due epoch milliseconds @throws FileError if the outcome cannot be recorded */
export async function executeRun(
  schedule: Schedule,
  due: number,
  context: ExecuteRunContext,
): Promise<ScheduledRun> {
  const { dataDir, program, scheduler, clock, signal, redact, onStart, onLine, onEnd } = context;
  const { name, folder } = schedule;
  const startedAt = clock.now();
  const started: ScheduledRun = {
    due: toIso(due),
    startedAt: toIso(startedAt),
    scheduler,
    attempts: 1,
    endedAt: null,
    exitCode: null,
    seconds: null,
    counts: null,
    error: null,
  };
  // Recorded before it starts, so that a crash cannot start the same due time again and again.
  recordRun(dataDir, name, started);
  onStart(schedule, due);
  for (let attempts = 1; ; attempts++) {
    const lines: string[] = [];
    const { exitCode, stdout, problem } = await spawnCommand({
      program,
      args: withReportFlags(schedule.args),
      folder,
      clock,
      signal,
      onLine(line) {
        const redacted = redact(line).slice(0, maxLineLength);
        if (redacted.trim() !== "") lines.push(redacted);
        if (lines.length > maxLines) lines.shift();
        onLine(schedule, redacted);
      },
    });
    const retryMillis = lockedRetryMillis[attempts - 1];
    if (exitCode === lockedExitCode && retryMillis !== undefined) {
      const hasSlept = await clock.sleep(retryMillis, signal).then(
        () => true,
        () => false,
      );
      if (hasSlept) continue;
    }
    const endedAt = clock.now();
    const run: ScheduledRun = {
      ...started,
      attempts,
      endedAt: toIso(endedAt),
      exitCode,
      seconds: Math.round((endedAt - startedAt) / 100) / 10,
      counts: summarizeReport(stdout),
      error: problem ?? (exitCode === 0 ? null : findError(lines)),
    };
    recordRun(dataDir, name, run);
    onEnd(schedule, run);
    return run;
  }
}

/** Adds the flags for a machine-readable report on stdout, and only errors on stderr. */
function withReportFlags([command = "", ...rest]: readonly string[]): string[] {
  return [command, "--json", "--quiet", ...rest];
}

/** The line of the error message, which begins with the program's name; its hint follows it. */
function findError(lines: readonly string[]): string | null {
  return lines.findLast((line) => line.startsWith("armoire: ")) ?? lines.at(-1) ?? null;
}
