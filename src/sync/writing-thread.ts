/**
 * The thread that writes a run's mirror. In: calls. Out: their answers. Loading its code takes longer than many a run, so
 * it stays for a moment when a mirror is closed, and serves the next run of this process; it then holds nothing.
 */
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { compileCacheEnvironment } from "../mirror/compile-cache.ts";
import type { WriteAnswer, WriteCall } from "./mirror-thread.ts";

export interface WritingThread {
  /** One call at a time. @param handedOver what the caller has no more @throws when the thread has ended */
  ask(call: WriteCall, handedOver: readonly ArrayBuffer[]): Promise<WriteAnswer>;
  /** Lets the next run have it: nothing is open in it any more. */
  release(): void;
  terminate(): Promise<void>;
}

const program = join(import.meta.dirname, `mirror-thread-entry${extname(import.meta.filename)}`);
const idleMillis = 5000;

let idle: WritingThread | null = null;

/** The one that is idle, or a new one. */
export function takeWritingThread(): WritingThread {
  const thread = idle ?? startWritingThread();
  idle = null;
  return thread;
}

function startWritingThread(): WritingThread {
  const worker = new Worker(program, { env: compileCacheEnvironment() });
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => {
      if (idle === thread) idle = null;
      reject(new Error("The thread that writes the mirror has ended."));
    });
  });
  failed.catch(() => {});
  const thread: WritingThread = {
    ask(call, handedOver) {
      clearTimeout(timer);
      worker.ref();
      // Not `once` of node:events, which settles later than it hears: a last answer must be heard before the end.
      const answered = new Promise<WriteAnswer>((resolve) => worker.once("message", resolve));
      worker.postMessage(call, handedOver);
      return Promise.race([answered, failed]);
    },
    release() {
      if (idle !== null) {
        void worker.terminate();
        return;
      }
      idle = thread;
      // Nothing waits for it: the process ends when it has nothing else to do.
      worker.unref();
      timer = setTimeout(() => void thread.terminate(), idleMillis).unref();
    },
    async terminate() {
      if (idle === thread) idle = null;
      await worker.terminate();
    },
  };
  return thread;
}
