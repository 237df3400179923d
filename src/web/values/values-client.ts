/** The thread of slow values: started with the first one, so that pages of a large mirror hold up no other request. */
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

export interface ValueCall extends ValueRequest {
  readonly id: number;
}

export type ValueReply =
  | { readonly id: number; readonly isComputed: true; readonly value: unknown; readonly millis: number }
  | { readonly id: number; readonly isComputed: false };

/** Null if the thread has failed: then the value is computed here. */
export type Computed = { readonly value: unknown; readonly millis: number } | null;

export interface ValuesThread {
  compute(request: ValueRequest): Promise<Computed>;
  close(): void;
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
  let lastId = 0;
  const pending = new Map<number, (computed: Computed) => void>();

  const end = () => {
    worker = null;
    for (const resolve of pending.values()) resolve(null);
    pending.clear();
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
      pending.get(reply.id)?.(reply.isComputed ? reply : null);
      pending.delete(reply.id);
      if (pending.size === 0) timer = setTimeout(close, idleMillis).unref();
    });
    started.on("error", () => started === worker && end());
    started.on("exit", () => started === worker && end());
    return started;
  };
  return {
    compute(request) {
      clearTimeout(timer);
      worker ??= start();
      const id = ++lastId;
      worker.postMessage({ ...request, id } satisfies ValueCall);
      return new Promise((resolve) => pending.set(id, resolve));
    },
    close,
  };
}
