/** A short run; `npm run chaos` is a long one. */
import { expect, it } from "vitest";
import { runChaos } from "./run-chaos.ts";

it("comes to the same mirror whatever happens to workers, Redis and itself, and asks again only for what was under way", {
  timeout: 240_000,
}, async () => {
  const seed = Date.now() % 2 ** 31;
  const said: string[] = [`seed ${seed}`];
  const report = await runChaos({
    ...{ seed, maxMillisBetween: 1500, maxMillisFrozen: 1000 },
    world: { seed: 3, brands: 12, models: 60, sizes: 300, latencyMillis: 30 },
    log: (text) => void said.push(text),
  });
  const story = said.join("\n");
  expect(report.isSame, story).toBe(true);
  expect(report.requests, story).toBeLessThanOrEqual(report.resources + report.maxRepeated + 2);
});
