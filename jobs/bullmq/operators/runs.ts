/** Runs of syncs, as their jobs show them. */
import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import { z } from "zod";
import { type Entries, joinEntries, readJobs } from "../entries/read-entries.ts";
import { readableService } from "../queue-names.ts";

export interface RunOverview {
  readonly principal: string;
  readonly service: string;
  readonly state: "running" | "ended" | "failed";
  /** Of the mirror; null of an account, as all that follows but times and outcome. */
  readonly run: number | null;
  readonly mode: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Null while it runs. */
  readonly endedAt: number | null;
  /** Null before the first one. */
  readonly progress: RunProgress | null;
  /** How it ended, in words; null while it runs. */
  readonly outcome: string | null;
  readonly counted: number | null;
  /** Failed resources; null while it runs. */
  readonly failed: number | null;
}

const scope = z.object({ run: z.int(), mode: z.string() });

/** Coordinators of other versions may have other forms. */
const progress = z.object({
  held: z.int(),
  due: z.int(),
  kinds: z.array(z.object({ kind: z.string(), held: z.int(), known: z.int() })).default([]),
  counted: z.int(),
  allowanceLeft: z.number().nullable(),
  estimatedEnd: z.iso.datetime().nullable(),
});
export type RunProgress = Readonly<z.infer<typeof progress>>;

const report = z.object({
  outcome: z.string(),
  requests: z.object({ counted: z.int() }).optional(),
  resources: z.object({ failed: z.int() }).optional(),
});

/** Of each queue. */
const maxEnded = 10;

const maxRunning = 100;

/** Running ones first, then the newest. */
export async function readRuns(client: Redis, queues: readonly Queue[]): Promise<Entries<RunOverview>> {
  const found = await Promise.all(
    queues.map(async (queue) => {
      const [active, completed, failed] = await Promise.all([
        readJobs(client, queue, ["active"], maxRunning),
        readJobs(client, queue, ["completed"], maxEnded),
        readJobs(client, queue, ["failed"], maxEnded),
      ]);
      const describeAll = ({ entries }: Entries<Job>, state: RunOverview["state"]) =>
        entries.map((job) => describe(queue.name, job, state));
      const ended = [...describeAll(completed, "ended"), ...describeAll(failed, "failed")];
      return {
        entries: [...describeAll(active, "running"), ...ended.sort(byStart).slice(0, maxEnded)],
        unreadable: active.unreadable + completed.unreadable + failed.unreadable,
      };
    }),
  );
  const { entries, unreadable } = joinEntries(found);
  const sorted = entries.toSorted(
    (a, b) => Number(b.endedAt === null) - Number(a.endedAt === null) || byStart(a, b),
  );
  return { entries: sorted, unreadable };
}

const byStart = (a: RunOverview, b: RunOverview) => b.startedAt - a.startedAt;

function describe(queue: string, job: Job, state: RunOverview["state"]): RunOverview {
  const [, principal = "", service = ""] = /^sync-([^@]*)@(.*)$/.exec(queue) ?? [];
  const ended = report.safeParse(job.returnvalue).data;
  const given = scope.safeParse(job.data).data;
  const shown = progress.safeParse(job.progress).data ?? null;
  return {
    ...{ principal, service: readableService(service), state },
    ...{ run: given?.run ?? null, mode: given?.mode ?? null },
    ...{ startedAt: job.timestamp, endedAt: state === "running" ? null : (job.finishedOn ?? null) },
    progress: shown,
    outcome: state === "running" ? null : state === "failed" ? job.failedReason : (ended?.outcome ?? null),
    counted: ended?.requests?.counted ?? shown?.counted ?? null,
    failed: ended?.resources?.failed ?? null,
  };
}
