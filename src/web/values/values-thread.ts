/** The program of the thread that computes slow values, with connections of its own. */
import { constants, setPriority } from "node:os";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parentPort } from "node:worker_threads";
import { type ServedMirror, serveMirror } from "../mirrors/open-mirror.ts";
import { computeSlowValue } from "./slow-values.ts";
import type { ValueReply, ValueRequest } from "./values-client.ts";

// Requests that need no slow value come first. Only Linux has a priority for each thread; elsewhere it is the process's.
if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
/** In bytes. With more than that, the garbage of a value is collected before the next one, or else V8 lets the heap grow. */
const maxGarbage = 8 * 2 ** 20;
let usedBytes = getHeapStatistics().used_heap_size;

function collectIfMuch(): void {
  if (getHeapStatistics().used_heap_size < usedBytes + maxGarbage) return;
  collectGarbage();
  usedBytes = getHeapStatistics().used_heap_size;
}

/** By file. */
const mirrors = new Map<string, ServedMirror>();

function mirrorAt(file: string): ServedMirror {
  const mirror = mirrors.get(file) ?? serveMirror(() => file);
  mirrors.set(file, mirror);
  return mirror;
}

parentPort?.on("message", ({ file, run, name, context, args }: ValueRequest) => {
  const startedAt = performance.now();
  let reply: ValueReply;
  try {
    const value = mirrorAt(file).read(run === null ? undefined : { kind: "run", run }, (mirror) =>
      computeSlowValue(name, mirror, context, args),
    );
    reply = { isComputed: true, value, millis: performance.now() - startedAt };
  } catch {
    // The caller computes it, and gets the error with its class.
    reply = { isComputed: false };
  }
  parentPort?.postMessage(reply);
  collectIfMuch();
});
