/**
 * The mirror of a run. It is written by a thread of its own, so that committing one batch and fetching the next overlap, and
 * read by this one. In: calls. Out: their results, once durable. The thread holds the lock and dies with the process.
 */
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { type MirrorPlace, makeMirror } from "../../mirror/file/create-mirror.ts";
import { MirrorError } from "../../mirror/file/errors.ts";
import { type MirrorReader, openMirrorReader } from "../../mirror/reader.ts";
import type { MirrorWriter, OpenMirrorOptions } from "../../mirror/writer.ts";
import { compileCacheEnvironment } from "../../platform/compile-cache.ts";
import { FileError } from "../../platform/errors.ts";

export interface RunMirror {
  readonly reader: MirrorReader;
  readonly writes: Omit<AsyncWrites, "close">;
  close(): Promise<void>;
}

/** The methods that write, as promises. `ingest` takes the buffers of the bodies away from its caller. */
type AsyncWrites = {
  readonly [Name in WriteName]: (
    ...args: Parameters<MirrorWriter[Name]>
  ) => Promise<ReturnType<MirrorWriter[Name]>>;
};

const writeNames = [
  "settleSnapshots",
  "beginRun",
  "addRoot",
  "followLinks",
  "addResources",
  "recordUser",
  "beginCycle",
  "recheckTombstones",
  "recheckRefused",
  "requestAgain",
  "ingest",
  "supersedePages",
  "closeRun",
  "compressBatch",
  "close",
] as const;
type WriteName = (typeof writeNames)[number];

/** The thread loads the kinds itself: they are code. */
type ThreadOptions = Omit<OpenMirrorOptions, "kinds">;

export type WriteCall =
  | { readonly name: "open"; readonly options: ThreadOptions }
  | { readonly name: WriteName; readonly args: readonly unknown[] };

export type WriteResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown }
  // Messages between threads lose the class of an error, so ours are sent as their properties.
  | {
      readonly ok: false;
      readonly mirrorError: Pick<MirrorError, "code" | "file" | "problem" | "hint" | "cause">;
    }
  | { readonly ok: false; readonly fileError: Pick<FileError, "code" | "message" | "hint"> };

/** @throws MirrorError; errors of `requirePlace` */
export async function openRunMirror(
  place: Omit<ThreadOptions, "mustExist"> & MirrorPlace,
): Promise<RunMirror> {
  // Functions cannot be sent to the thread.
  const { requirePlace, ...options } = place;
  requirePlace?.();
  const thread = acquireWriter();
  const call = createCaller(thread);
  try {
    // A new mirror is made here while the thread loads its code: both take about as long.
    await makeMirror(place);
    await call({ name: "open", options });
    try {
      requirePlace?.();
    } catch (error) {
      await call({ name: "close", args: [] });
      throw error;
    }
    const reader = openMirrorReader(options.file);
    const writes = Object.fromEntries(
      writeNames.map((name) => [name, (...args: readonly unknown[]) => call({ name, args })]),
    ) as unknown as AsyncWrites;
    return {
      reader,
      writes,
      async close() {
        reader.close();
        await writes.close().catch(async (error: unknown) => {
          // It would keep this process alive.
          await thread.terminate();
          throw error;
        });
        thread.release();
      },
    };
  } catch (error) {
    await thread.terminate();
    requirePlace?.();
    throw error;
  }
}

function createCaller(thread: WriterThread): (call: WriteCall) => Promise<unknown> {
  return async (call) => {
    const result = await thread.call(call, transferableBuffers(call));
    if (result.ok) return result.value;
    if ("error" in result) throw result.error;
    if ("fileError" in result) {
      const { code, message, hint } = result.fileError;
      throw new FileError(code, message, hint);
    }
    const { code, file, problem, hint, cause } = result.mirrorError;
    throw new MirrorError(code, file, problem, hint, { cause });
  };
}

/** The buffers that contain exactly one body, as the client's do: they are moved instead of copied. */
function transferableBuffers(call: WriteCall): ArrayBuffer[] {
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

interface WriterThread {
  /**
   * To be called once at a time.
   * @param transferred buffers that the caller can no longer use
   * @throws when the thread has ended
   */
  call(call: WriteCall, transferred: readonly ArrayBuffer[]): Promise<WriteResult>;
  /** Leaves the thread, in which no mirror is open, to the next run. */
  release(): void;
  terminate(): Promise<void>;
}

const program = join(import.meta.dirname, `thread${extname(import.meta.filename)}`);
/** Loading the thread's code takes longer than many a run, so it waits for the next run of this process. */
const idleMillis = 5000;

let idle: WriterThread | null = null;

function acquireWriter(): WriterThread {
  const thread = idle ?? startThread();
  idle = null;
  return thread;
}

function startThread(): WriterThread {
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
    call(call, transferred) {
      clearTimeout(timer);
      worker.ref();
      // `once` of node:events resolves later than the event: the exit of the thread could then precede its last result.
      const result = new Promise<WriteResult>((resolve) => worker.once("message", resolve));
      worker.postMessage(call, transferred);
      return Promise.race([result, failed]);
    },
    release() {
      if (idle !== null) {
        void worker.terminate();
        return;
      }
      idle = thread;
      // An idle thread does not keep the process alive.
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
