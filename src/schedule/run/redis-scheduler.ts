/**
 * Starts due runs together with other processes. They share the data directory, and BullMQ decides which of them
 * starts a run.
 */
import type { RecurringRun, RunResult } from "../../../jobs/bullmq/scheduler.ts";
import { timeAfter } from "../cron-times.ts";
import type { Schedule } from "../schedule.ts";
import { ensureScheduleFile } from "../schedules.ts";
import type { LocalSchedulerOptions } from "./local-scheduler.ts";
import { type Candidate, type DueRun, dueTime } from "./select-due-runs.ts";

export interface RedisSchedulerOptions extends LocalSchedulerOptions {
  readonly execute: (run: DueRun) => Promise<RunResult | null>;
  /** The address of Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  readonly dataDir: string;
  readonly onReady: () => void;
  readonly onWarning: (text: string) => void;
  readonly onProblems: (problems: readonly string[]) => void;
}

/** Resolves once `signal` is aborted and all active runs have ended. @throws RedisError; ScheduleError; FileError */
export async function runOverRedis(options: RedisSchedulerOptions): Promise<void> {
  const { dataDir, candidates, execute, clock, pollMillis, signal } = options;
  const { onReady, onWarning, onProblems } = options;
  const { id: dataDirId } = ensureScheduleFile(dataDir, clock);
  // Loaded only when Redis is used.
  const [{ connectRedis }, { runScheduler }] = await Promise.all([
    import("../../../jobs/bullmq/redis.ts"),
    import("../../../jobs/bullmq/scheduler.ts"),
  ]);
  const redis = await connectRedis(options.redis, onWarning);
  try {
    await runScheduler({
      redis,
      signal,
      clock,
      pollMillis,
      onReady,
      onWarning,
      onProblems,
      runs: () => candidates().map((candidate) => toRecurringRun(candidate, dataDirId, clock.now())),
      async execute(id) {
        const found = candidates().find(({ schedule }) => idOf(schedule) === id);
        // While the job waited, the schedule may have been removed, or have run without Redis.
        const due = found === undefined ? null : dueTime(found.schedule, found.lastRun, clock.now());
        if (found === undefined || due === null) return null;
        const result = await execute({ schedule: found.schedule, due });
        return isOfAccount(found.schedule) && result !== null ? { ...result, counts: null } : result;
      },
    });
  } finally {
    redis.end();
  }
}

/** A schedule that was removed and added again is a different one. */
const idOf = ({ name, addedAt }: Schedule): string => `${name}.${Date.parse(addedAt)}`;

/** Whether the counts of its report are of a person. */
const isOfAccount = ({ args }: Schedule): boolean => args.some((arg) => /^--account(?:=|$)/.test(arg));

/** Without its options, which may have paths, names and other programs. */
function commandOf({ args }: Schedule): string {
  const options = args.findIndex((arg) => arg.startsWith("-"));
  return args.slice(0, options === -1 ? args.length : options).join(" ");
}

function toRecurringRun({ schedule, lastRun }: Candidate, dataDirId: string, now: number): RecurringRun {
  // BullMQ itself repeats a lost run.
  const covered = lastRun === null ? null : { ...lastRun, isLost: false };
  return {
    id: idOf(schedule),
    name: schedule.name,
    command: commandOf(schedule),
    area: isOfAccount(schedule) ? "account" : "catalogue",
    queue: `${dataDirId}.${schedule.mirror}`,
    cron: schedule.cron,
    tz: schedule.tz,
    missed: dueTime(schedule, covered, now),
    nextAfter: (millis) => timeAfter(schedule, millis),
  };
}
