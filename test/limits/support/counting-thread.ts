/**
 * Measures the parsers in a thread of its own: V8 counts blocks only in code that it compiles after counting has begun, and the
 * threads of the test runner have compiled most of it before.
 */
import { parentPort } from "node:worker_threads";
import { startStepCounter } from "./count-steps.ts";

await using counter = await startStepCounter();
const { measureAll } = await import("./parsers.ts");
parentPort?.postMessage(await measureAll(counter));
