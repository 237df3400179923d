/**
 * The thread of slow values: started with the first one, so that pages of a large mirror hold up no other request. It computes
 * one after another, and those that a page waits for before those that only replace older ones.
 */
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { compileCacheEnvironment } from "../../platform/compile-cache.ts";
import type { SlowName, ValueContext } from "./slow-values.ts";

export interface ValueRequest {
  /** Of the mirror. */
  readonly file: string;
  /** Whose state is read; null for the present. */
  readonly run: number | null;
  readonly name: SlowName;
  readonly context: ValueContext;
  readonly args: readonly unknown[];
}

export type ValueReply =
  | { readonly isComputed: true; readonly value: unknown; readonly millis: number }
  | { readonly isComputed: false };

/** Null if the thread has failed: then the value is computed here. */
export type Computed = { readonly value: unknown; readonly millis: number } | null;

export interface ValuesThread {
  compute(request: ValueRequest): Computation;
  close(): void;
}

export interface Computation {
  readonly computed: Promise<Computed>;
  /** To be called when a page waits for it. */
  hasten(): void;
}

interface Task {
  readonly request: ValueRequest;
  readonly resolve: (computed: Computed) => void;
  isAwaited: boolean;
}

/** What a value needs soon becomes garbage, which takes twice the memory without a limit. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 };

const program = join(import.meta.dirname, `values-thread${extname(import.meta.filename)}`);

/** The thread takes a quarter of the memory of `serve`, and a tenth of a second to start. */
const defaultIdleMillis = 10_000;

/** @param idleMillis ends the thread when it has computed nothing for so long; the next value starts another */
export function createValuesThread(idleMillis = defaultIdleMillis): ValuesThread {
  let worker: Worker | null = null;
  let timer: NodeJS.Timeout | undefined;
  let running: Task | null = null;
  const waiting = new Set<Task>();

  const end = () => {
    worker = null;
    for (const task of [running, ...waiting]) task?.resolve(null);
    running = null;
    waiting.clear();
  };
  const close = () => {
    clearTimeout(timer);
    const closed = worker;
    end();
    void closed?.terminate();
  };
  const start = (): Worker => {
    const started = new Worker(program, { env: compileCacheEnvironment(), resourceLimits });
    started.unref();
    started.on("message", (reply: ValueReply) => {
      if (started !== worker) return;
      running?.resolve(reply.isComputed ? reply : null);
      running = null;
      next();
    });
    started.on("error", () => started === worker && end());
    started.on("exit", () => started === worker && end());
    return started;
  };
  const next = () => {
    clearTimeout(timer);
    const [oldest] = waiting;
    if (oldest === undefined) {
      timer = setTimeout(close, idleMillis).unref();
      return;
    }
    running = [...waiting].find(({ isAwaited }) => isAwaited) ?? oldest;
    waiting.delete(running);
    worker ??= start();
    worker.postMessage(running.request);
  };
  return {
    compute(request) {
      const { promise, resolve } = Promise.withResolvers<Computed>();
      const task = { request, resolve, isAwaited: false };
      waiting.add(task);
      // After this turn: until then a page may come to wait for another one.
      if (running === null) setImmediate(() => running === null && waiting.size > 0 && next());
      return {
        computed: promise,
        hasten() {
          task.isAwaited = true;
        },
      };
    },
    close,
  };
}
