import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { streamWriter } from "../../../src/cli/terminal/io.ts";

/** A stream that accepts writes only on request of the test. */
function slowStream() {
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 4,
    decodeStrings: false,
    write: (_chunk, _encoding, taken) => void waiting.push(taken),
  });
  return { stream, takeOne: () => waiting.shift()?.() };
}

it("a write to a slow reader resolves when the reader has caught up, and not before", async () => {
  const { stream, takeOne } = slowStream();
  const write = streamWriter(stream);
  const events: string[] = [];
  expect(write("abc")).toBeUndefined();
  const behind = write("def")?.then(() => events.push("drained"));
  expect(behind).toBeInstanceOf(Promise);
  stream.once("drain", () => events.push("drain"));
  takeOne();
  await new Promise(setImmediate);
  expect(events).toEqual([]);
  takeOne();
  await behind;
  expect(events).toEqual(["drain", "drained"]);
  expect(write("ghi")).toBeUndefined();
});

it("without waiting, text is written at once, with one listener for all writes", () => {
  const { stream } = slowStream();
  const write = streamWriter(stream);
  const promises = Array.from({ length: 50 }, () => write("abcd"));
  expect(new Set(promises).size).toBe(1);
  expect(stream.writableLength).toBe(200);
  expect(stream.listenerCount("drain")).toBe(1);
});
