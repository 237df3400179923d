/** Schedules and their last runs, as BullMQ's job schedulers and their jobs have them. */
import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import { z } from "zod";
import { type Area, areas } from "../../../schema/kind.ts";
import { type Entries, joinEntries, readEach, readJobs, readTime } from "../entries/read-entries.ts";
import { listScheduleIds } from "../scheduler.ts";

export interface ScheduleOverview {
  readonly name: string;
  /** Without options. */
  readonly command: string;
  readonly area: Area;
  readonly cron: string;
  readonly tz: string;
  /** Epoch milliseconds; null if it is never due again. */
  readonly nextAt: number | null;
  /** The newest first. */
  readonly runs: readonly ScheduledRunOverview[];
}

export interface ScheduledRunOverview {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly state: "running" | "done" | "failed";
  /** Null while it runs, and unless it is done. */
  readonly seconds: number | null;
  /** The numbers of its report, by name; null without one. */
  readonly counts: Readonly<Record<string, number>> | null;
  /** Null unless it failed. */
  readonly problem: string | null;
}

/** A job of an earlier version does not say whose it is: it is kept private. */
const scheduled = z.object({
  command: z.string().default(""),
  area: z.enum(areas).default("account"),
});
const result = z.object({
  seconds: z.number().nullable(),
  counts: z.record(z.string(), z.number()).nullable(),
});

const maxRuns = 10;

/** BullMQ keeps the last 20 of each state. */
const maxJobs = 100;

/** The next one first. */
export async function readSchedules(
  client: Redis,
  queues: readonly Queue[],
): Promise<Entries<ScheduleOverview>> {
  const found = await Promise.all(
    queues.map(async (queue) => {
      const [ids, jobs] = await Promise.all([
        listScheduleIds(queue).catch(() => null),
        readJobs(client, queue, ["active", "completed", "failed"], maxJobs),
      ]);
      const { entries, unreadable } = await readEach(ids ?? [], (id) =>
        readSchedule(queue, id, jobs.entries),
      );
      return { entries, unreadable: unreadable + jobs.unreadable + (ids === null ? 1 : 0) };
    }),
  );
  const { entries, unreadable } = joinEntries(found);
  const nextOf = ({ nextAt }: ScheduleOverview) => nextAt ?? Number.POSITIVE_INFINITY;
  return { entries: entries.toSorted((a, b) => nextOf(a) - nextOf(b)), unreadable };
}

async function readSchedule(
  queue: Queue,
  id: string,
  jobs: readonly Job[],
): Promise<ScheduleOverview | null> {
  const found = await queue.getJobScheduler(id);
  if (found === undefined) return null;
  const { name, pattern = "", tz = "", next, template } = found;
  const { command, area } = scheduled.parse(template?.data ?? {});
  const runs = jobs
    .filter((job) => job.name === name)
    .map(describe)
    .sort((a, b) => b.startedAt - a.startedAt)
    .slice(0, maxRuns);
  return { name, command, area, cron: pattern, tz, nextAt: readTime(`${next}`), runs };
}

function describe({
  processedOn,
  timestamp,
  finishedOn,
  failedReason,
  returnvalue,
}: Job): ScheduledRunOverview {
  const startedAt = processedOn ?? timestamp;
  if (finishedOn === undefined)
    return { startedAt, state: "running", seconds: null, counts: null, problem: null };
  const ended = result.safeParse(returnvalue).data;
  return {
    startedAt,
    state: failedReason ? "failed" : "done",
    seconds: ended?.seconds ?? (finishedOn - startedAt) / 1000,
    counts: ended?.counts ?? null,
    problem: failedReason || null,
  };
}
