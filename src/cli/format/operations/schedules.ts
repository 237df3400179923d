/** Formats schedules and their runs for people. */

import { hostname } from "node:os";
import { toIso } from "../../../platform/clock.ts";
import { isProcessAlive } from "../../../platform/process-lock.ts";
import { quoteWord } from "../../../platform/text/shell-words.ts";
import { formatAge, formatDuration } from "../../../presentation/durations.ts";
import { formatNext, formatTime, type Step } from "../../../presentation/times.ts";
import { hasSeconds, timeAfter } from "../../../schedule/cron-times.ts";
import type { ScheduledRun } from "../../../schedule/run-history.ts";
import type { Schedule } from "../../../schedule/schedule.ts";
import type { InstallPlan, RemovalPlan, SystemCommand } from "../../../schedule/system/install.ts";
import type { PrintedFile } from "../../../schedule/system/installation.ts";
import type { ShownSchedules } from "../../../web/page.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { alignRows, formatWrappedTable } from "../../terminal/table/text-table.ts";

export interface ListedSchedule extends Schedule {
  /** ISO 8601, UTC; null if it is never due again. */
  readonly nextAt: string | null;
  /** Oldest first. */
  readonly runs: readonly (ScheduledRun & { readonly outcome: string })[];
}

/** @param runs oldest first */
export function toListed(schedule: Schedule, runs: readonly ScheduledRun[]): ListedSchedule {
  const next = timeAfter(schedule, Date.now());
  return {
    ...schedule,
    nextAt: next === null ? null : toIso(next),
    runs: runs.map((run) => ({ ...run, outcome: outcomeOf(run) })),
  };
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
  [exitCodes.rejected]: "rejected",
  [exitCodes.drift]: "schema drift",
  [exitCodes.interrupted]: "interrupted",
  [exitCodes.terminated]: "interrupted",
};

export function outcomeOf({ endedAt, exitCode, scheduler }: ScheduledRun): string {
  if (endedAt === null) return isAlive(scheduler) ? "running" : "lost";
  return exitCode === null ? "failed" : (outcomes[exitCode] ?? "failed");
}

export function formatSchedules(
  schedules: readonly ListedSchedule[],
  now: number,
  screen: Io["screen"],
): string {
  if (schedules.length === 0) return "There are no schedules. Add one with `armoire schedule add NAME`.\n";
  const rows = schedules.map((schedule) => {
    const { name, cron, tz, args, nextAt, runs } = schedule;
    const last = runs.at(-1);
    return [
      name,
      formatNext(nextAt, now, stepOf(schedule)),
      last === undefined ? "" : describeLast(last, now),
      tz === Intl.DateTimeFormat().resolvedOptions().timeZone ? cron : `${cron} ${tz}`,
      commandLine(args),
    ];
  });
  return formatWrappedTable(["name", "next", "last run", "cron", "command"], rows, screen);
}

/** With what the copy lacks, if it made one. */
function describeLast({ outcome, counts, startedAt }: ListedSchedule["runs"][number], now: number): string {
  const missing = counts?.missing === undefined ? [] : [`${counts.missing} missing`];
  return [outcome, ...missing, `${formatAge(startedAt, now)} ago`].join(", ");
}

/**
 * For pages: the schedules of an account, or those of the catalogue, which only count those of accounts.
 * @param account its name; null for the catalogue @param now epoch milliseconds
 */
export function toShownSchedules(
  schedules: readonly ListedSchedule[],
  account: string | null,
  now: number,
): ShownSchedules {
  const shown = schedules.filter(({ args }) => accountIn(args) === account);
  return {
    ofAccounts: account === null ? schedules.length - shown.length : 0,
    schedules: shown.map((schedule) => {
      const { name, cron, tz, args, nextAt, runs } = schedule;
      return {
        ...{ name, cron, tz, nextAt, lateSince: lateSince(schedule, now), command: commandLine(args) },
        step: stepOf(schedule),
        runs: runs.toReversed().map((run) => ({
          ...{ startedAt: run.startedAt, seconds: run.seconds, outcome: run.outcome },
          details: describeCounts(run),
        })),
      };
    }),
  };
}

function accountIn(args: readonly string[]): string | null {
  const at = args.findIndex((arg) => /^--account(=|$)/.test(arg));
  const [, value = args[at + 1] ?? ""] = (args[at] ?? "").split("=");
  return at === -1 ? null : value;
}

/** Within it, a run that is due begins, unless no scheduler runs. */
const graceMillis = 600_000;

function lateSince(schedule: ListedSchedule, now: number): string | null {
  const { addedAt, runs } = schedule;
  const due = timeAfter(schedule, Math.max(...[addedAt, ...runs.map((run) => run.due)].map(Date.parse)));
  return due !== null && due + graceMillis < now ? toIso(due) : null;
}

/** As it can be pasted into a shell. */
const commandLine = (args: readonly string[]): string => args.map(quoteWord).join(" ");

/** The precision of its times. */
export function stepOf(schedule: Schedule): Step {
  return hasSeconds(schedule) ? "second" : "minute";
}

export function formatRuns(schedule: ListedSchedule, screen: Io["screen"]): string {
  const { name, runs, args, folder, mirror } = schedule;
  const about = [
    ["command", commandLine(args)],
    ["folder", folder],
    ["mirror", mirror],
  ];
  const head = alignRows(about);
  if (runs.length === 0) return `${head}\n${name} has not run yet.\n`;
  const step = stepOf(schedule);
  const rows = runs
    .toReversed()
    .map((run) => [
      formatTime(run.due, step),
      formatTime(run.startedAt, step),
      run.seconds === null ? "" : formatDuration(run.seconds),
      run.outcome,
      describeCounts(run),
    ]);
  return `${head}\n${formatWrappedTable(["due", "started", "took", "outcome", "details"], rows, screen)}`;
}

/** One line, for a log. */
export function formatEnd(schedule: Schedule, run: ScheduledRun): string {
  const details = describeCounts(run);
  const took = run.seconds === null ? "" : ` in ${formatDuration(run.seconds)}`;
  return `${schedule.name}: ${outcomeOf(run)}${took}${details === "" ? "" : `; ${details}`}`;
}

function describeCounts({ counts, error, attempts }: ScheduledRun): string {
  const numbers = Object.entries(counts ?? {})
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${count} ${count === 1 ? name.replace(/s$/, "") : name}`);
  const retried = attempts === 1 ? [] : [`${attempts} attempts`];
  return escapeControls([...numbers, ...retried, ...(error === null ? [] : [error])].join(", "));
}

/** A process of another machine counts as alive: it cannot be checked. */
function isAlive({ pid, host }: ScheduledRun["scheduler"]): boolean {
  return host !== hostname() || isProcessAlive(pid);
}

export const formatFiles = (files: readonly PrintedFile[]): string =>
  files.map(({ path, content }) => `# ${path}\n${content}`).join("\n");

export const untriedNote =
  "These files are written from the scheduler's documentation and not tried: check with `armoire status` after the first run.\n";

/** The preview of an installation: its files, and the commands after them. */
export function formatInstallPlan({ files, commands }: InstallPlan): string {
  return `${formatFiles(files)}\n${formatCommands(commands)}`;
}

export function formatRemovalPlan({ commandsBefore, paths, commandsAfter }: RemovalPlan): string {
  const removals = paths.map((path) => `remove ${path}\n`).join("");
  return formatCommands(commandsBefore) + removals + formatCommands(commandsAfter);
}

const formatCommands = (commands: readonly SystemCommand[]): string =>
  commands.map(({ words }) => `$ ${words.join(" ")}\n`).join("");
