/** The engine of several processes: BullMQ says which of them begins a run. They share the data directory. */
import type { RecurringRun } from "../../../jobs/bullmq/scheduler.ts";
import { timeAfter } from "../cron-times.ts";
import { makeScheduleBook } from "../schedules.ts";
import type { LocalSchedulerOptions } from "./local-scheduler.ts";
import { type Candidate, dueTime } from "./select-due-runs.ts";

export interface RedisSchedulerOptions extends LocalSchedulerOptions {
  /** The address of Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  readonly dataDir: string;
  readonly onReady: () => void;
  readonly onWarning: (text: string) => void;
}

/** Until `ending`, and until what is under way then has ended. @throws RedisError; ScheduleError, AccountError */
export async function runOverRedis(options: RedisSchedulerOptions): Promise<void> {
  const { dataDir, candidates, begin, clock, lookAgainMillis, ending, onReady, onWarning } = options;
  const group = makeScheduleBook(dataDir, clock).id;
  // Loaded where it is wanted: without Redis nothing of it is needed.
  const [{ connectRedis }, { runScheduler: runRecurring }] = await Promise.all([
    import("../../../jobs/bullmq/redis.ts"),
    import("../../../jobs/bullmq/scheduler.ts"),
  ]);
  const redis = await connectRedis(options.redis, onWarning);
  try {
    await runRecurring({
      redis,
      signal: ending,
      clock,
      lookAgainMillis,
      onReady,
      onWarning,
      runs: () => candidates().map((candidate) => toRecurring(candidate, group, clock.now())),
      async begin(id) {
        const found = candidates().find(({ schedule }) => idOf(schedule) === id);
        // It may have been removed while it waited, or have had its run without Redis.
        const due = found === undefined ? null : dueTime(found.schedule, found.last, clock.now());
        if (found !== undefined && due !== null) await begin({ schedule: found.schedule, due });
      },
    });
  } finally {
    redis.end();
  }
}

/** A schedule that was removed and added anew is another one. */
const idOf = ({ name, addedAt }: Candidate["schedule"]): string => `${name}.${Date.parse(addedAt)}`;

function toRecurring({ schedule, last }: Candidate, group: string, now: number): RecurringRun {
  // What was lost is taken up by BullMQ itself.
  const known = last === null ? null : { ...last, isLost: false };
  return {
    id: idOf(schedule),
    queue: `${group}.${schedule.mirror}`,
    cron: schedule.cron,
    tz: schedule.tz,
    missed: dueTime(schedule, known, now),
    nextAfter: (millis) => timeAfter(schedule, millis),
  };
}
