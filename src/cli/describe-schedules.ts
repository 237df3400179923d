/** Schedules and what became of their runs, as a person reads them. */
import { hostname } from "node:os";
import type { ScheduledRun } from "../schedule/run-file.ts";
import type { Schedule } from "../schedule/schedule.ts";
import { exitCodes } from "./exit-codes.ts";
import { formatDuration, formatMoment } from "./spoken-time.ts";
import { formatTable, toShown } from "./text-table.ts";

export interface ListedSchedule extends Schedule {
  /** ISO 8601, UTC; null where it never comes due again. */
  readonly nextAt: string | null;
  /** The oldest first. */
  readonly runs: readonly (ScheduledRun & { readonly outcome: string })[];
}

const outcomes: Readonly<Record<number, string>> = {
  [exitCodes.done]: "done",
  [exitCodes.failed]: "failed",
  [exitCodes.usage]: "wrong usage",
  [exitCodes.someFailed]: "some failed",
  [exitCodes.settings]: "wrong settings",
  [exitCodes.incomplete]: "not complete",
  [exitCodes.locked]: "locked",
  [exitCodes.approval]: "waiting for approval",
  [exitCodes.damaged]: "damaged",
  [exitCodes.interrupted]: "interrupted",
  [exitCodes.terminated]: "interrupted",
};

/** In a word or two. */
export function outcomeOf({ endedAt, exitCode, scheduler }: ScheduledRun): string {
  if (endedAt === null) return isAlive(scheduler) ? "under way" : "lost";
  return exitCode === null ? "failed" : (outcomes[exitCode] ?? "failed");
}

export function describeSchedules(schedules: readonly ListedSchedule[], now: number): string {
  if (schedules.length === 0) return "No schedules. `armoire schedule add NAME` makes one.\n";
  const rows = schedules.map(({ name, cron, tz, args, nextAt, runs }) => {
    const last = runs.at(-1);
    const next = nextAt === null ? "never" : formatMoment(nextAt, now);
    return [name, cron, tz, args.join(" "), next, last === undefined ? "" : describeOutcome(last)];
  });
  return formatTable(["name", "cron", "zone", "command", "next", "last run"], rows);
}

export function describeRuns({ name, runs }: ListedSchedule): string {
  if (runs.length === 0) return `There was no run of ${name} yet.\n`;
  const rows = runs
    .toReversed()
    .map((run) => [
      ...[shortTime(run.due), shortTime(run.begunAt)],
      ...[run.seconds === null ? "" : formatDuration(run.seconds), run.outcome, describeCounts(run)],
    ]);
  return formatTable(["due (UTC)", "begun (UTC)", "took", "outcome", "what"], rows);
}

/** One line, for a log. */
export function describeEnd(schedule: Schedule, run: ScheduledRun): string {
  const what = describeCounts(run);
  const took = run.seconds === null ? "" : ` in ${formatDuration(run.seconds)}`;
  return `${schedule.name}: ${outcomeOf(run)}${took}${what === "" ? "" : `; ${what}`}`;
}

function describeOutcome(run: ScheduledRun & { readonly outcome: string }): string {
  const what = describeCounts(run);
  return `${shortTime(run.begunAt)} ${run.outcome}${what === "" ? "" : `; ${what}`}`;
}

function describeCounts({ counts, said, attempts }: ScheduledRun): string {
  const numbers = Object.entries(counts ?? {})
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${count} ${name}`);
  const tried = attempts === 1 ? [] : [`tried ${attempts} times`];
  return toShown([...numbers, ...tried, ...(said === null ? [] : [said])].join(", "));
}

const shortTime = (moment: string): string => moment.slice(0, 16).replace("T", " ");

/** As far as can be told: processes of another machine are not seen. */
function isAlive({ pid, host }: ScheduledRun["scheduler"]): boolean {
  if (host !== hostname()) return true;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // One that is another user's is there too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
