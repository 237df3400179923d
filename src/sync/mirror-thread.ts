/**
 * The mirror of a run. Writing has a thread of its own, so that committing one batch and fetching the next do not wait
 * for each other; reading stays here. In: calls. Out: their results, once they are durable. The thread holds the lock and
 * dies with the process.
 */
import { MirrorError } from "../mirror/file/errors.ts";
import { type MirrorWriter, makeMirror, type OpenMirrorOptions } from "../mirror/mirror.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/mirror-reader.ts";
import { takeWritingThread, type WritingThread } from "./writing-thread.ts";

/** The writing calls, answered by promises. The bodies that `ingest` is given are gone from the caller's side. */
export type PromisedWrites = {
  readonly [Name in WriteName]: (
    ...args: Parameters<MirrorWriter[Name]>
  ) => Promise<ReturnType<MirrorWriter[Name]>>;
};

const writeNames = [
  "beginRun",
  "seed",
  "follow",
  "makeKnown",
  "recordUser",
  "beginCycle",
  "reconsiderTombstones",
  "ingest",
  "closeRun",
  "compressSome",
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
  | { readonly ok: false; readonly error: unknown; readonly mirrorError: MirrorErrorFacts | null };

/** A class does not survive the way between threads, so a MirrorError travels as its facts. */
export type MirrorErrorFacts = Pick<MirrorError, "code" | "file" | "what" | "hint">;

export interface RunMirror {
  readonly reader: MirrorReader;
  readonly writes: Omit<PromisedWrites, "close">;
  close(): Promise<void>;
}

/** @throws MirrorError */
export async function openRunMirror(options: ThreadOptions): Promise<RunMirror> {
  const thread = takeWritingThread();
  const ask = askIn(thread);
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
function askIn(thread: WritingThread): (call: WriteCall) => Promise<unknown> {
  return async (call) => {
    const answer = await thread.ask(call, ownBuffers(call));
    if (answer.ok) return answer.value;
    const { mirrorError } = answer;
    if (mirrorError === null) throw answer.error;
    const { code, file, what, hint } = mirrorError;
    throw new MirrorError(code, file, what, hint, { cause: answer.error });
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
