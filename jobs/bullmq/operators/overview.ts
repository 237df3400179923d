/**
 * What is shared through a Redis, for people: runs, allowances, failed resources, workers and schedules. In: its queues and
 * keys. Out: plain data. Read-only. What belongs to an account is marked, so that it can be left out.
 */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { RedisMemory, RedisSnapshot } from "../dashboard/redis-snapshot.ts";
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
  { memory, coordinators }: RedisSnapshot,
  queues: readonly Queue[],
): Promise<Overview> {
  const named = (prefix: string) => queues.filter(({ name }) => name.startsWith(prefix));
  const [runs, failures, workers, schedules, requests] = await Promise.all([
    readRuns(named("sync-")),
    readFailures(named("fetch-")),
    readWorkers(client),
    readSchedules(queues.filter(({ name }) => isScheduleQueue(name))),
    Promise.all(named("fetch-").map(countRequests)),
  ]);
  const allowances = coordinators.map(({ fields }) => {
    const read = (name: string) => (fields[name] ? Number(fields[name]) : null);
    return {
      ...{ principal: fields.principal ?? "", service: readableService(serviceOfQueue(fields.queue ?? "")) },
      ...{ limit: read("limit"), remaining: read("remaining") },
      ...{ resetAt: read("resetAt"), updatedAt: read("updatedAt") },
    };
  });
  return { memory, runs, failures, workers, schedules, requests, allowances, hidden: 0 };
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
    allowances: overview.allowances.filter(isShown),
    failures: overview.failures.filter(isShown),
    requests: overview.requests.filter(isShown),
    hidden:
      overview.runs.length -
      runs.length +
      (countPrincipals(overview.workers) - countPrincipals(workers)) +
      (overview.schedules.length - schedules.length),
  };
}
