/** The schedules of a data directory as metrics. In: schedules with their last runs. Out: metrics. Pure. */
import { counter, gauge, type Metric } from "../../jobs/metrics/metric.ts";
import { timeAfter } from "../schedule/cron-times.ts";
import type { ScheduledRun } from "../schedule/run-history.ts";
import type { Schedule } from "../schedule/schedule.ts";

export interface ScheduleFigures {
  readonly schedule: Schedule;
  /** Oldest first. */
  readonly runs: readonly ScheduledRun[];
  /** Whether this process is running it. */
  readonly isRunning: boolean;
  /** The runs that this process has ended. */
  readonly ended: Readonly<Record<ScheduleOutcome, number>>;
}

export type ScheduleOutcome = "done" | "failed" | "killed";

export function outcomeOfRun({ exitCode }: ScheduledRun): ScheduleOutcome {
  if (exitCode === null) return "killed";
  return exitCode === 0 ? "done" : "failed";
}

/** @param now epoch milliseconds */
export function toScheduleMetrics(schedules: readonly ScheduleFigures[], now: number): Metric[] {
  const each = (read: (figures: ScheduleFigures) => number | null) =>
    schedules.flatMap((figures) => {
      const value = read(figures);
      return value === null ? [] : [{ labels: { schedule: figures.schedule.name }, value }];
    });
  const seconds = (time: number | string | null | undefined): number | null =>
    time == null ? null : (typeof time === "string" ? Date.parse(time) : time) / 1000;
  const lastEnded = ({ runs }: ScheduleFigures) => runs.findLast(({ endedAt }) => endedAt !== null);
  return [
    gauge(
      "schedule_next_run_timestamp_seconds",
      "When the schedule is due next.",
      each(({ schedule }) => seconds(timeAfter(schedule, now))),
    ),
    gauge(
      "schedule_running",
      "Whether this scheduler is running the command now.",
      each(({ isRunning }) => +isRunning),
    ),
    gauge(
      "schedule_last_started_timestamp_seconds",
      "When the last run started.",
      each(({ runs }) => seconds(runs.at(-1)?.startedAt)),
    ),
    gauge(
      "schedule_last_ended_timestamp_seconds",
      "When the last run ended.",
      each((figures) => seconds(lastEnded(figures)?.endedAt)),
    ),
    gauge(
      "schedule_last_success_timestamp_seconds",
      "When a run last ended with exit code 0; of the last 20 runs.",
      each(({ runs }) => seconds(runs.findLast(({ exitCode }) => exitCode === 0)?.endedAt)),
    ),
    gauge(
      "schedule_last_exit_code",
      "The exit code of the last run that ended; -1 if a signal ended it.",
      each((figures) => {
        const run = lastEnded(figures);
        return run === undefined ? null : (run.exitCode ?? -1);
      }),
    ),
    gauge(
      "schedule_last_duration_seconds",
      "How long the last run took that ended.",
      each((figures) => lastEnded(figures)?.seconds ?? null),
    ),
    counter(
      "schedule_runs_total",
      "Runs that this scheduler has ended, by outcome; killed: by a signal, or it did not start.",
      schedules.flatMap(({ schedule, ended }) =>
        Object.entries(ended).map(([outcome, value]) => ({
          labels: { schedule: schedule.name, outcome },
          value,
        })),
      ),
    ),
  ];
}
