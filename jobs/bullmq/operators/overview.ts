/**
 * What is shared through a Redis, for people: runs, allowances, failed resources, workers and schedules. In: its queues and
 * keys. Out: plain data. Read-only. What belongs to an account is marked, so that it can be left out.
 */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { RedisMemory, RedisSnapshot } from "../dashboard/redis-snapshot.ts";
import { readEach, readNumber, readTime } from "../entries/read-entries.ts";
import {
  isAccount,
  isOfOtherVersion,
  isScheduleQueue,
  principalOfQueue,
  readableService,
  serviceOfQueue,
} from "../queue-names.ts";
import { readWorkers, type WorkerState } from "../worker/worker-state.ts";
import { type FailedResource, readFailures } from "./failures.ts";
import { type RunOverview, readRuns } from "./runs.ts";
import { readSchedules, type ScheduleOverview } from "./schedules.ts";

export interface Overview {
  readonly memory: RedisMemory;
  /** Running ones first, then the newest. */
  readonly runs: readonly RunOverview[];
  readonly allowances: readonly AllowanceOverview[];
  /** The newest first. */
  readonly failures: readonly FailedResource[];
  readonly workers: readonly WorkerState[];
  readonly schedules: readonly ScheduleOverview[];
  /** Requests that wait for workers, or are being sent. */
  readonly requests: readonly QueuedRequests[];
  /** How many runs, principals of workers and schedules of accounts were left out. */
  readonly hidden: number;
  /** How many entries have no form or size that Armoire gives them: another program or version has written them. */
  readonly unreadable: number;
}

/** What a coordinator has published last. */
export interface AllowanceOverview {
  readonly principal: string;
  readonly service: string;
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Epoch milliseconds, as all times here. */
  readonly resetAt: number | null;
  readonly updatedAt: number | null;
}

export interface QueuedRequests {
  readonly principal: string;
  readonly service: string;
  /** Whether they wait for workers of another version. */
  readonly isOfOtherVersion: boolean;
  readonly waiting: number;
  readonly active: number;
}

/** @param queues those of the snapshot, opened */
export async function readOverview(
  client: Redis,
  { memory, coordinators, unreadable }: RedisSnapshot,
  queues: readonly Queue[],
): Promise<Overview> {
  const named = (prefix: string) => queues.filter(({ name }) => name.startsWith(prefix));
  const fetchQueues = named("fetch-");
  const [runs, failures, workers, schedules, requests] = await Promise.all([
    readRuns(client, named("sync-")),
    readFailures(client, fetchQueues),
    readWorkers(client),
    readSchedules(
      client,
      queues.filter(({ name }) => isScheduleQueue(name)),
    ),
    readEach(fetchQueues, countRequests),
  ]);
  const allowances = coordinators.map(({ fields }) => {
    return {
      ...{ principal: fields.principal ?? "", service: readableService(serviceOfQueue(fields.queue ?? "")) },
      ...{ limit: readNumber(fields.limit), remaining: readNumber(fields.remaining) },
      ...{ resetAt: readTime(fields.resetAt), updatedAt: readTime(fields.updatedAt) },
    };
  });
  const read = [runs, failures, workers, schedules, requests];
  return {
    ...{ memory, allowances, hidden: 0 },
    ...{ runs: runs.entries, failures: failures.entries, workers: workers.entries },
    ...{ schedules: schedules.entries, requests: requests.entries },
    unreadable: read.reduce((sum, each) => sum + each.unreadable, unreadable),
  };
}

async function countRequests(queue: Queue): Promise<QueuedRequests> {
  const { name } = queue;
  const { waiting = 0, delayed = 0, active = 0 } = await queue.getJobCounts("waiting", "delayed", "active");
  return {
    ...{ principal: principalOfQueue(name), service: readableService(serviceOfQueue(name)) },
    ...{ isOfOtherVersion: isOfOtherVersion(name), waiting: waiting + delayed, active },
  };
}

/** For those without the key of the accounts. */
export function withoutAccounts(overview: Overview): Overview {
  const isShown = ({ principal }: { readonly principal: string }) => !isAccount(principal);
  const runs = overview.runs.filter(isShown);
  const workers = overview.workers.flatMap((worker) => {
    const principals = worker.principals.filter(({ name }) => isShown({ principal: name }));
    return principals.length === 0 ? [] : [{ ...worker, principals }];
  });
  const schedules = overview.schedules.filter(({ area }) => area === "catalogue");
  const countPrincipals = (all: Overview["workers"]) =>
    all.reduce((sum, { principals }) => sum + principals.length, 0);
  return {
    ...{ memory: overview.memory, runs, workers, schedules },
    ...{ allowances: overview.allowances.filter(isShown), unreadable: overview.unreadable },
    failures: overview.failures.filter(isShown),
    requests: overview.requests.filter(isShown),
    hidden:
      overview.runs.length -
      runs.length +
      (countPrincipals(overview.workers) - countPrincipals(workers)) +
      (overview.schedules.length - schedules.length),
  };
}
