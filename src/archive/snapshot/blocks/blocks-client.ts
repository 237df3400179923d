/** Makes blocks in a thread of its own, so that reading rows, decompressing bodies and compressing blocks overlap. */
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { DamagedBodyError } from "../../../mirror/file/errors.ts";
import { compileCacheEnvironment } from "../../../platform/compile-cache.ts";
import type { Block } from "../../container/collect-blocks.ts";
import { type BodyRecords, createBlockMaker, type Dictionaries } from "./body-records.ts";

/** Null after the last records. */
export type BlockRequest = BodyRecords | null;

export type BlockReply =
  | { readonly blocks: Block[] }
  | { readonly damage: string }
  | { readonly error: unknown };

export interface BlockThread {
  /** May take the lines away from its caller. @returns the full blocks; after null, the last one @throws DamagedBodyError */
  add(records: BlockRequest): Promise<Block[]>;
  close(): Promise<void>;
}

const program = join(import.meta.dirname, `blocks-thread${extname(import.meta.filename)}`);

/** What a body needs soon becomes garbage. */
const resourceLimits = { maxYoungGenerationSizeMb: 8 };

export function startBlockThread(dictionaries: Dictionaries): BlockThread {
  const worker = new Worker(program, {
    ...{ env: compileCacheEnvironment(), workerData: dictionaries, resourceLimits },
  });
  const waiting: PromiseWithResolvers<Block[]>[] = [];
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
    for (const one of waiting.splice(0)) one.reject(failure);
  };
  worker.on("message", (reply: BlockReply) => {
    const first = waiting.shift();
    if ("blocks" in reply) first?.resolve(reply.blocks.map(asBuffers));
    else first?.reject("damage" in reply ? new DamagedBodyError(reply.damage) : reply.error);
  });
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("The thread that makes blocks has ended.")));
  return {
    add(records) {
      if (failure !== undefined) return Promise.reject(failure);
      const added = Promise.withResolvers<Block[]>();
      waiting.push(added);
      worker.postMessage(records, records === null ? [] : [records.lines.buffer as ArrayBuffer]);
      return added.promise;
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** Messages between threads make plain arrays of buffers. */
const asBuffers = ({ index, content }: Block): Block => ({
  index: asBuffer(index),
  content: asBuffer(content),
});
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** As a thread does, without one. */
export function makeBlocksHere(dictionaries: Dictionaries): BlockThread {
  const maker = createBlockMaker(dictionaries);
  return {
    async add(records) {
      if (records !== null) return maker.add(records);
      const last = maker.end();
      return last === null ? [] : [last];
    },
    async close() {},
  };
}
