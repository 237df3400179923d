/**
 * Each parser of text from outside takes steps in proportion to the text: twice the text, at most about twice the steps. The
 * texts repeat what parsers look for. Steps are counted, never timed.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { beforeAll, expect, it } from "vitest";
import type { Measurement } from "./support/parsers.ts";

let measurements: Measurement[];
beforeAll(async () => {
  const thread = new Worker(new URL("./support/counting-thread.ts", import.meta.url));
  [measurements] = await once(thread, "message");
});

/** Twice the text may take twice the steps, and some more that do not depend on it. */
const isLinear = ({ steps, stepsOfDouble }: Measurement) => stepsOfDouble <= 2.2 * steps + 500;

it("text of twice the length takes at most about twice the steps", () => {
  const slow = measurements.filter((measured) => measured.name !== "a quadratic loop" && !isLinear(measured));
  expect(slow).toEqual([]);
  expect(measurements.length).toBeGreaterThan(300);
});

it("a body with twice as much takes more than a step for each part", () => {
  const bodies = measurements.filter(({ name, unit }) => unit === null && name !== "a quadratic loop");
  expect(bodies.length).toBeGreaterThan(3);
  for (const { name, steps } of bodies) expect({ name, steps }).toSatisfy(({ steps }) => steps > 400);
});

it("steps of a quadratic loop are counted as such", () => {
  const loop = measurements.find(({ name }) => name === "a quadratic loop");
  expect(loop).toSatisfy((measured: Measurement) => !isLinear(measured));
});
