/** The program of the thread that makes blocks. */
import { parentPort, workerData } from "node:worker_threads";
import { DamagedBodyError } from "../../../mirror/file/errors.ts";
import type { Block } from "../../container/collect-blocks.ts";
import type { BlockReply, BlockRequest } from "./blocks-client.ts";
import { createBlockMaker, type Dictionaries } from "./body-records.ts";

const maker = createBlockMaker(workerData as Dictionaries);

parentPort?.on("message", (request: BlockRequest) => {
  const reply = toReply(request);
  parentPort?.postMessage(reply, "blocks" in reply ? reply.blocks.flatMap(buffersOf) : []);
});

function toReply(records: BlockRequest): BlockReply {
  try {
    if (records !== null) return { blocks: maker.add(records) };
    const last = maker.end();
    return { blocks: last === null ? [] : [last] };
  } catch (error) {
    // Messages between threads lose the class of an error.
    return error instanceof DamagedBodyError ? { damage: error.message } : { error };
  }
}

const buffersOf = ({ index, content }: Block) => [index.buffer as ArrayBuffer, content.buffer as ArrayBuffer];
