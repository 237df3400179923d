/**
 * Shows a run of a sync as a job: its progress, its log, and its report as return value. In: what the coordinator knows. Out:
 * a job for people who look into Redis. A run reads nothing of it, and never waits for it: while Redis is unreachable, the
 * job is out of date, and if Redis loses the job, there is a new one.
 */
import { UnrecoverableError } from "bullmq";
import type { Redis } from "ioredis";
import { type Clock, toIso } from "../../../src/platform/clock.ts";
import { withTimeout } from "../async.ts";
import { type HeldRun, type RunQueue, runLockMillis } from "./run-queue.ts";

export interface RunJob {
  /** Shows the progress, at most once a second; otherwise `read` is not called. */
  update(read: () => object): void;
  /** Adds a line to the log of the job, with the time. */
  log(line: string): void;
  /**
   * Ends the job, within a few seconds. Later calls change nothing.
   * @param lastProgress default: what was shown last
   */
  end(ending: RunJobEnding, lastProgress?: object | null): Promise<void>;
}

export type RunJobEnding =
  | { readonly status: "completed"; readonly returnValue: object }
  | { readonly status: "failed"; readonly reason: string };

export interface RunJobOptions {
  readonly client: Redis;
  readonly queue: RunQueue;
  /** For example `sync catalogue`. */
  readonly name: string;
  readonly data: object;
  readonly clock: Pick<Clock, "now">;
}

const daySeconds = 86_400;
/** Ended runs stay for a quarter of a year. */
const kept = { count: 100, age: 90 * daySeconds };
const maxLines = 500;
const updateMillis = 1_000;
/** Reading takes at most a fiftieth of the time. */
const minPauseRatio = 50;
const renewMillis = runLockMillis / 3;
const beginAgainMillis = 10_000;
const endMillis = 2_000;

export function openRunJob({ client, queue, name, data, clock }: RunJobOptions): RunJob {
  const options = { removeOnComplete: kept, removeOnFail: kept, keepLogs: maxLines };
  const lines: string[] = [];
  let progress: object | null = null;
  let held: HeldRun | null = null;
  let beginAt = Number.NEGATIVE_INFINITY;
  let nextUpdateAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;

  const begin = async (): Promise<HeldRun | null> => {
    if (held !== null || performance.now() < beginAt) return held;
    beginAt = performance.now() + beginAgainMillis;
    held = await queue.begin(name, data, options);
    return held;
  };
  const writeAll = async (): Promise<void> => {
    const current = await begin();
    if (current === null) return;
    const { job } = current;
    while (lines.length > 0) {
      await job.log(lines[0] ?? "");
      lines.shift();
    }
    const shown = progress;
    progress = null;
    if (shown !== null) await job.updateProgress(shown);
  };
  /** Redis was emptied, or this process was frozen: the next write begins another job. */
  const lose = (): void => {
    if (held !== null) beginAt = Number.NEGATIVE_INFINITY;
    held = null;
  };
  /** One write at a time. */
  const write = (): void => {
    if (client.status !== "ready") return;
    writing ??= writeAll()
      .catch(lose)
      .finally(() => {
        writing = null;
      });
  };
  const renew = async (): Promise<void> => {
    if (held !== null && client.status === "ready") {
      const isRenewed = await held.job.extendLock(held.token, runLockMillis).catch(() => null);
      if (isRenewed === 0) lose();
    }
    write();
  };
  const timer = setInterval(() => void renew(), renewMillis).unref();
  write();

  const finish = async (ending: RunJobEnding, lastProgress: object | null): Promise<void> => {
    await writing;
    progress = lastProgress;
    await writeAll();
    if (held === null) return;
    const { job, token } = held;
    if (ending.status === "completed") await job.moveToCompleted(ending.returnValue, token, false);
    else await job.moveToFailed(new UnrecoverableError(ending.reason), token);
  };
  const endOnce = async (ending: RunJobEnding, lastProgress: object | null): Promise<void> => {
    clearInterval(timer);
    if (client.status === "ready") {
      await withTimeout(endMillis, () =>
        finish(ending, lastProgress).catch(() => {
          // Its job was lost meanwhile, so another one shows how the run ended.
          lose();
          return finish(ending, lastProgress);
        }),
      );
    }
    await queue.close();
  };
  let ended: Promise<void> | undefined;
  return {
    update(read) {
      const startedAt = performance.now();
      if (writing !== null || startedAt < nextUpdateAt || client.status !== "ready") return;
      progress = read();
      const readAt = performance.now();
      nextUpdateAt = readAt + Math.max(updateMillis, (readAt - startedAt) * minPauseRatio);
      write();
    },
    log(line) {
      lines.push(`${toIso(clock.now()).replace(/\.\d+Z$/, "Z")} ${line}`);
      if (lines.length > maxLines) lines.shift();
      write();
    },
    end(ending, lastProgress = null) {
      ended ??= endOnce(ending, lastProgress);
      return ended;
    },
  };
}
