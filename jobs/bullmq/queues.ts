/** BullMQ queues and workers with the settings that all of ours share. */
import { hostname } from "node:os";
import { Queue, type QueueOptions, type Telemetry, Worker, type WorkerOptions } from "bullmq";
import type { Redis } from "ioredis";
import { hasCode } from "../../src/platform/errors.ts";
import { TelemetryError } from "./errors.ts";
import { keyPrefix } from "./queue-names.ts";

/** @param options `skipMetasUpdate` for a reader, which then leaves no key behind */
export function openQueue<Data>(
  client: Redis,
  name: string,
  options: Pick<QueueOptions, "skipMetasUpdate" | "settings" | "telemetry"> = {},
): Queue<Data> {
  const queue = new Queue<Data>(name, { ...options, connection: client, prefix: keyPrefix });
  // A failure shows in the calls; without a listener, Node.js would throw it.
  queue.on("error", () => {});
  return queue;
}

/**
 * For readers of Redis, whose queues come and go: principals, versions, mirrors.
 * @returns a function that opens exactly these queues, and closes the others
 */
export function createQueueOpener(client: Redis): (names: readonly string[]) => readonly Queue[] {
  const open = new Map<string, Queue>();
  return (names) => {
    for (const name of names)
      if (!open.has(name)) open.set(name, openQueue(client, name, { skipMetasUpdate: true }));
    for (const [name, queue] of open) {
      if (names.includes(name)) continue;
      open.delete(name);
      void queue.close();
    }
    return [...open.values()];
  };
}

/**
 * Makes spans of jobs with the OpenTelemetry SDK that the process has loaded; without one, nothing is recorded.
 * @throws TelemetryError without the optional package
 */
export async function loadTelemetry(
  load: () => Promise<typeof import("bullmq-otel")> = () => import("bullmq-otel"),
): Promise<Telemetry> {
  try {
    const { BullMQOtel } = await load();
    return new BullMQOtel({ tracerName: "armoire" });
  } catch (cause) {
    if (!hasCode(cause, "ERR_MODULE_NOT_FOUND")) throw cause;
    throw new TelemetryError(
      "not-installed",
      "Telemetry needs the package bullmq-otel, which is not installed.",
      "Run `npm install bullmq-otel` where Armoire is installed, or unset ARMOIRE_TELEMETRY.",
      { cause },
    );
  }
}

/** How the workers of this process are listed. */
export const workerName = `${hostname()}:${process.pid}`;

/** A lost worker is detected within nine seconds: its lock expires, and then other workers look for expired locks. */
export const workerTimings = {
  lockDuration: 6_000,
  stalledInterval: 3_000,
  runRetryDelay: 1000,
} satisfies Partial<WorkerOptions>;

/** A worker whose `close` may wait for an unreachable Redis: its timers would keep the process alive. */
export class ForceClosableWorker extends Worker {
  /** Stops renewing the locks of jobs. */
  async stopTimers(): Promise<void> {
    await this.lockManager.close();
  }
}
