import fc from "fast-check";
import { expect, it } from "vitest";
import { tries } from "../support/thorough.ts";
import type { Coverage } from "./support/coverage.ts";
import { findNewSeeds, fuzz } from "./support/fuzz.ts";
import { targets } from "./targets.ts";

const none: Coverage = { take: () => [] };

it.each(Object.keys(targets))("no seed of %s, and no change of one, breaks the parser", async (name) => {
  const target = targets[name] ?? { run: () => {}, seeds: [] };
  const count = target.seeds.length + tries(200, 20_000);
  const seed = fc.sample(fc.nat(), 1)[0] ?? 0;
  const { executions, findings } = await fuzz(target, none, seed, (executed) => executed >= count);
  expect(executions).toBeGreaterThanOrEqual(count);
  expect({ seed, findings }).toEqual({ seed, findings: [] });
});

it("the fuzzer follows new branches to an input that breaks a parser", async () => {
  const word = "[@";
  let deepest = 0;
  const run = (input: Buffer) => {
    while (deepest < word.length && input.toString().startsWith(word.slice(0, deepest + 1))) deepest++;
    if (deepest === word.length) throw new Error("broken");
  };
  // A branch for each character that is right.
  const coverage: Coverage = {
    take() {
      const taken = Array.from({ length: deepest }, (_, n) => n);
      deepest = 0;
      return taken;
    },
  };
  const target = { run, seeds: [Buffer.from("seed")] };
  const { findings, kept } = await fuzz(
    target,
    coverage,
    1,
    (executions, found) => found > 0 || executions > 100_000,
  );
  expect(findings).toHaveLength(1);
  expect(kept.length).toBeGreaterThan(word.length - 1);
});

it("new seeds are small inputs that together run each branch that the seeds do not", () => {
  const of = (text: string, ...branches: number[]) => ({
    input: Buffer.from(text),
    features: branches.map((branch) => 32 * branch + 3),
  });
  const kept = [of("seed", 1), of("long one", 1, 2, 3), of("two", 2), of("three", 1, 3), of("again", 2, 3)];
  const report = { executions: 9, branches: 3, features: 3, kept, findings: [] };
  expect(findNewSeeds(report, 1, 100).map(String)).toEqual(["two", "three"]);
  expect(findNewSeeds(report, 1, 4).map(String)).toEqual(["two"]);
});
