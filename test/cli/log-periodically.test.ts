import { expect, it } from "vitest";
import type { RequestCount } from "../../jobs/bullmq/worker/request-counts.ts";
import { logPeriodically } from "../../src/cli/log.ts";
import type { Clock } from "../../src/platform/clock.ts";

it("the log has a line for each minute with requests, and no other", async () => {
  const count = (outcome: string, n: number): RequestCount => ({ principal: "catalogue", outcome, count: n });
  const minutes: RequestCount[][] = [
    [],
    [count("200", 3)],
    [count("200", 3)],
    [count("200", 5), { ...count("200", 1), principal: "ada" }, count("429", 1)],
  ];
  const stop = new AbortController();
  const slept: number[] = [];
  let now: RequestCount[] = [];
  const clock: Clock = {
    ...{ now: () => 0, random: () => 0 },
    async sleep(millis) {
      slept.push(millis);
      const next = minutes.shift();
      if (next === undefined) stop.abort();
      else now = next;
    },
  };
  const logged: unknown[] = [];
  const log = { info: (...parts: unknown[]) => void logged.push(parts), warn: () => {} };
  await logPeriodically(() => now, log, clock, stop.signal);
  expect(logged).toEqual([
    [
      "counts",
      "3 requests in the last minute; in total 200: 3.",
      { lastMinute: 3, total: 3, outcomes: ["200: 3"] },
    ],
    [
      ...["counts", "4 requests in the last minute; in total 200: 6, 429: 1."],
      { lastMinute: 4, total: 7, outcomes: ["200: 6", "429: 1"] },
    ],
  ]);
  expect(new Set(slept)).toEqual(new Set([60_000]));
});
