/**
 * Carries out one due run: begins the command, again where its mirror is locked by somebody else, and keeps what became of it.
 * Both engines come here.
 */
import { type Clock, toIso } from "../../platform/clock.ts";
import { recordRun, type ScheduledRun, type Scheduler, summarizeReport } from "../run-history.ts";
import type { Schedule } from "../schedule.ts";
import { type Program, spawnCommand } from "./spawn-command.ts";

export interface ExecuteRunContext {
  readonly dataDir: string;
  readonly program: Program;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  /** Asks what is under way to end, with the name of the signal as the reason. */
  readonly ending: AbortSignal;
  /** Takes what looks like a secret out of what a command said. */
  readonly hide: (text: string) => string;
  readonly onBegin: (schedule: Schedule, due: number) => void;
  readonly onLine: (schedule: Schedule, line: string) => void;
  readonly onEnd: (schedule: Schedule, run: ScheduledRun) => void;
}

/** What the program ends with where somebody else writes the mirror. */
const lockedExitCode = 11;
/** Before a locked mirror is tried again. */
const patienceMillis: readonly number[] = [10_000, 30_000, 60_000, 120_000];
const mostSaid = 300;

/** @param due epoch milliseconds @throws AccountError where what became of it cannot be kept */
export async function executeRun(schedule: Schedule, due: number, context: ExecuteRunContext): Promise<void> {
  const { dataDir, program, scheduler, clock, ending, hide, onBegin, onLine, onEnd } = context;
  const begunAt = clock.now();
  const begun: ScheduledRun = {
    due: toIso(due),
    begunAt: toIso(begunAt),
    scheduler,
    attempts: 1,
    endedAt: null,
    exitCode: null,
    seconds: null,
    counts: null,
    said: null,
  };
  const { name, folder } = schedule;
  // Before it is begun: a time that was begun for is not due any more, whatever happens then.
  recordRun(dataDir, name, begun);
  onBegin(schedule, due);
  for (let attempts = 1; ; attempts++) {
    const lines: string[] = [];
    const child = await spawnCommand({
      program,
      args: reporting(schedule.args),
      folder,
      clock,
      ending,
      onLine(line) {
        const shown = hide(line).slice(0, mostSaid);
        if (shown.trim() !== "") lines.push(shown);
        if (lines.length > 10) lines.shift();
        onLine(schedule, shown);
      },
    });
    const pause = patienceMillis[attempts - 1];
    if (child.exitCode === lockedExitCode && pause !== undefined && (await isSlept(clock, pause, ending)))
      continue;
    const endedAt = clock.now();
    const run: ScheduledRun = {
      ...begun,
      attempts,
      endedAt: toIso(endedAt),
      exitCode: child.exitCode,
      seconds: Math.round((endedAt - begunAt) / 100) / 10,
      counts: summarizeReport(child.stdout),
      said: child.problem ?? (child.exitCode === 0 ? null : whatWasWrong(lines)),
    };
    recordRun(dataDir, name, run);
    onEnd(schedule, run);
    return;
  }
}

/** A report for programs, and nothing on stderr but trouble. */
function reporting([command = "", ...rest]: readonly string[]): string[] {
  return [command, "--json", "--quiet", ...rest];
}

/** An error begins with the program's name; what to do next comes after. */
function whatWasWrong(lines: readonly string[]): string | null {
  return lines.findLast((line) => line.startsWith("armoire: ")) ?? lines.at(-1) ?? null;
}

async function isSlept(clock: Clock, millis: number, signal: AbortSignal): Promise<boolean> {
  return await clock.sleep(millis, signal).then(
    () => true,
    () => false,
  );
}
