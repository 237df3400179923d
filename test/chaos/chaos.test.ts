/** A short run; `npm run chaos` is a long one. */
import { expect, it } from "vitest";
import { runChaos } from "./run-chaos.ts";

it("a sync makes the same mirror despite failures of workers, Redis and itself, and repeats only running requests", {
  timeout: 240_000,
}, async () => {
  const seed = Date.now() % 2 ** 31;
  const lines: string[] = [`seed ${seed}`];
  const report = await runChaos({
    ...{ seed, maxMillisBetween: 1500, maxMillisFrozen: 1000, workers: 4 },
    world: { seed: 3, brands: 12, models: 60, sizes: 300, latencyMillis: 30 },
    log: (text) => void lines.push(text),
  });
  const log = lines.join("\n");
  expect(report.isSame, log).toBe(true);
  expect(report.requests, log).toBeLessThanOrEqual(report.resources + report.maxRepeated + 2);
});
