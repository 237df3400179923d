/**
 * The mirror of a run. Writing has a thread of its own, so that committing one batch and fetching the next do not wait
 * for each other; reading stays here. In: calls. Out: their results, once they are durable. The thread holds the lock and
 * dies with the process.
 */

import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { MirrorError } from "../../mirror/file/errors.ts";
import { type MirrorReader, openMirrorReader } from "../../mirror/reader.ts";
import { type MirrorWriter, makeMirror, type OpenMirrorOptions } from "../../mirror/writer.ts";
import { compileCacheEnvironment } from "../../platform/compile-cache.ts";
import { FileError } from "../../platform/errors.ts";

/** The writing calls, answered by promises. The bodies that `ingest` is given are gone from the caller's side. */
export type PromisedWrites = {
  readonly [Name in WriteName]: (
    ...args: Parameters<MirrorWriter[Name]>
  ) => Promise<ReturnType<MirrorWriter[Name]>>;
};

const writeNames = [
  "beginRun",
  "addRoot",
  "followLinks",
  "addResources",
  "recordUser",
  "beginCycle",
  "recheckTombstones",
  "ingest",
  "closeRun",
  "compressBatch",
  "close",
] as const;
export type WriteName = (typeof writeNames)[number];

/** What the thread opens a mirror with; the kinds are code, which it loads itself. */
export type ThreadOptions = Omit<OpenMirrorOptions, "kinds">;

export type WriteCall =
  | { readonly name: "open"; readonly options: ThreadOptions }
  | { readonly name: WriteName; readonly args: readonly unknown[] };

export type WriteAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown }
  // Classes do not survive the way between threads, so an error of ours travels as its facts.
  | {
      readonly ok: false;
      readonly mirrorError: Pick<MirrorError, "code" | "file" | "problem" | "hint" | "cause">;
    }
  | { readonly ok: false; readonly fileError: Pick<FileError, "code" | "message" | "hint"> };

export interface RunMirror {
  readonly reader: MirrorReader;
  readonly writes: Omit<PromisedWrites, "close">;
  close(): Promise<void>;
}

/** @throws MirrorError */
export async function openRunMirror(options: ThreadOptions): Promise<RunMirror> {
  const thread = acquireWriter();
  const ask = createCaller(thread);
  try {
    // Both take as long: the thread loads its code, and the migrator's library is loaded here to make a new mirror.
    await makeMirror(options);
    await ask({ name: "open", options });
    const reader = openMirrorReader(options.file);
    const writes = Object.fromEntries(
      writeNames.map((name) => [name, (...args: readonly unknown[]) => ask({ name, args })]),
    ) as unknown as PromisedWrites;
    return {
      reader,
      writes,
      async close() {
        reader.close();
        await writes.close();
        thread.release();
      },
    };
  } catch (error) {
    await thread.terminate();
    throw error;
  }
}

/** One call at a time, answered in order: a run writes one thing after the other. */
function createCaller(thread: WriterThread): (call: WriteCall) => Promise<unknown> {
  return async (call) => {
    const answer = await thread.ask(call, ownBuffers(call));
    if (answer.ok) return answer.value;
    if ("error" in answer) throw answer.error;
    if ("fileError" in answer) {
      const { code, message, hint } = answer.fileError;
      throw new FileError(code, message, hint);
    }
    const { code, file, problem, hint, cause } = answer.mirrorError;
    throw new MirrorError(code, file, problem, hint, { cause });
  };
}

/** The buffers that hold one body and nothing else, as the door's do: they are handed over instead of copied. */
function ownBuffers(call: WriteCall): ArrayBuffer[] {
  if (call.name !== "ingest") return [];
  const [results] = call.args as Parameters<MirrorWriter["ingest"]>;
  const buffers = new Set<ArrayBuffer>();
  for (const result of results) {
    if (result.outcome !== "body") continue;
    const { buffer, byteLength } = result.body;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffers.add(buffer);
  }
  return [...buffers];
}

/**
 * The thread that writes a run's mirror. In: calls. Out: their answers. Loading its code takes longer than many a run, so
 * it stays for a moment when a mirror is closed, and serves the next run of this process; it then holds nothing.
 */

export interface WriterThread {
  /** One call at a time. @param handedOver what the caller has no more @throws when the thread has ended */
  ask(call: WriteCall, handedOver: readonly ArrayBuffer[]): Promise<WriteAnswer>;
  /** Lets the next run have it: nothing is open in it any more. */
  release(): void;
  terminate(): Promise<void>;
}

const program = join(import.meta.dirname, `thread${extname(import.meta.filename)}`);
const idleMillis = 5000;

let idle: WriterThread | null = null;

/** The one that is idle, or a new one. */
export function acquireWriter(): WriterThread {
  const thread = idle ?? startWritingThread();
  idle = null;
  return thread;
}

function startWritingThread(): WriterThread {
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
  const thread: WriterThread = {
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
