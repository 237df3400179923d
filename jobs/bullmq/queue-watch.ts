/**
 * Watches the keys of a queue in Redis, which other programs can overwrite. One key of another type or value can stop
 * all jobs, and BullMQ then repeats its commands without a pause. In: a queue. Out: what is wrong with it; its worker is
 * paused until it is right again.
 */
import type { Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { messageOf } from "../../src/platform/errors.ts";
import { isOutOfMemory, isRejected } from "./errors.ts";

export interface QueueWatch {
  /** Why no jobs can be added or taken; null if they can. */
  readonly problem: string | null;
  stop(): void;
}

/** What BullMQ keeps for each queue. */
const keyTypes: Readonly<Record<string, string>> = {
  ...{ wait: "list", active: "list", paused: "list" },
  ...{ delayed: "zset", prioritized: "zset", completed: "zset", failed: "zset", marker: "zset" },
  ...{ repeat: "zset", "waiting-children": "zset", stalled: "set", meta: "hash", events: "stream" },
  ...{ id: "string", pc: "string", limiter: "string", "stalled-check": "string" },
};
/** These are increased. */
const counters = ["id", "pc"];
const numericSettings = ["concurrency", "max", "duration", "opts.maxLenEvents"];
const isNumber = (value: unknown): boolean => value === null || /^\d{1,16}$/.test(String(value));

const checkMillis = 5_000;
/** Some fail for a moment, such as those for a job that another worker has ended. */
const maxRejections = 20;

/** @param worker paused while there is a problem; null if this process only adds jobs */
export function watchQueue(
  client: Redis,
  queue: Queue,
  worker: Worker | null,
  onWarning: (text: string) => void,
): QueueWatch {
  let problem: string | null = null;
  let isStopped = false;
  let isChecking = false;
  let rejections = 0;
  let lastRejection = "";

  const check = async (): Promise<void> => {
    if (isChecking || client.status !== "ready") return;
    isChecking = true;
    const found = await findProblem(client, queue).catch(() => problem);
    isChecking = false;
    if (isStopped) return;
    const last = problem;
    problem = found ?? (rejections > maxRejections ? toProblem(queue, lastRejection) : null);
    if (problem === last) return;
    if (problem !== null) onWarning(problem);
    else onWarning(`Jobs of ${queue.name} can be added and taken again.`);
    if (problem !== null) await worker?.pause(true);
    else await worker?.resume();
  };
  worker?.on("error", (error) => {
    if (!isRejected(error) || isOutOfMemory(error)) return;
    lastRejection = `Redis rejects a command: ${messageOf(error)}`;
    rejections++;
    if (rejections === 1 || rejections > maxRejections) void check();
  });
  void check();
  const timer = setInterval(() => {
    // Without this, a pause because of rejected commands would never end.
    rejections = 0;
    void check();
  }, checkMillis).unref();
  return {
    get problem() {
      return problem;
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

const toProblem = (queue: Queue, reason: string): string =>
  `No jobs of ${queue.name} can be added or taken: ${reason}`;

async function findProblem(client: Redis, queue: Queue): Promise<string | null> {
  const names = Object.keys(keyTypes);
  const pipeline = client.pipeline();
  for (const name of names) pipeline.type(queue.toKey(name));
  for (const name of counters) pipeline.get(queue.toKey(name));
  pipeline.hmget(queue.toKey("meta"), ...numericSettings);
  const results = (await pipeline.exec()) ?? [];
  // A connection that was cut; of the others, the type says what is wrong.
  const failure = results.slice(0, names.length).find(([error]) => error !== null)?.[0];
  if (failure) throw failure;
  const replies = results.map(([, reply]) => reply);
  const remove = (name: string) => `Remove it: redis-cli del '${queue.toKey(name)}'`;
  for (const [n, name] of names.entries()) {
    const type = replies[n];
    if (type === keyTypes[name] || type === "none") continue;
    return toProblem(queue, `its key ${name} is a ${type}, not a ${keyTypes[name]}. ${remove(name)}`);
  }
  const values = replies.slice(names.length);
  const settings = values[counters.length];
  for (const [n, name] of counters.entries())
    if (!isNumber(values[n])) return toProblem(queue, `its key ${name} is no number. ${remove(name)}`);
  for (const [n, name] of numericSettings.entries())
    if (Array.isArray(settings) && !isNumber(settings[n]))
      return toProblem(queue, `its setting ${name} is no number. ${remove("meta")}`);
  return null;
}
