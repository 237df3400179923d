/** The options of a sandbox, and refused values. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { apportion, paretoQuantile, zipfWeights } from "../../src/sandbox/distributions.ts";
import { resolveOptions, SandboxOptionError, type SandboxOptions } from "../../src/sandbox/options.ts";
import { Random } from "../../src/sandbox/random.ts";
import { scramble, unscramble } from "../../src/sandbox/resources/resource.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { variants } from "../../src/sandbox/variants.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

let folder: string;
beforeAll(async () => {
  const temporary = await temporaryFolder();
  folder = temporary.path;
  return () => temporary[Symbol.asyncDispose]();
});

describe("command-line options", () => {
  it("all options have defaults", () => {
    expect(resolveOptions({})).toMatchObject({
      host: "127.0.0.1",
      port: 0,
      seed: 1,
      pageSize: 20,
      totals: { brands: 12, models: 60, sizes: 300 },
      faultRules: [],
    });
  });

  it.each(
    Object.entries(variants).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  )("the variant %s may be %j", (name, value) => {
    expect(resolveOptions({ [name]: value })).toMatchObject({ [name]: value });
  });

  it("totals override those of the preset", () => {
    expect(resolveOptions({ preset: "real" }).totals).toEqual({ brands: 683, models: 13_000, sizes: 90_000 });
    expect(resolveOptions({ preset: "real", models: 5 }).totals).toEqual({
      brands: 683,
      models: 5,
      sizes: 90_000,
    });
    expect(resolveOptions({ models: 0 }).totals.sizes).toBe(0);
  });

  it.each<[string, SandboxOptions]>([
    ["port", { port: 70_000 }],
    ["brands", { brands: 0 }],
    ["pageSize", { pageSize: 0 }],
    ["seed", { seed: -1 }],
    ["serviceName", { serviceName: "not a name" }],
    ["unauthorizedStatus", { unauthorizedStatus: 99 }],
    ["allowance", { allowance: 1.5 }],
    ["fault rule 0.fault", { faults: [{ fault: "nothing" as "status" }] }],
    ["fault rule 0.kind", { faults: [{ kind: "brandz" as "brand", fault: "status" }] }],
  ])("options refuse a wrong %s by name", (name, options) => {
    expect(() => resolveOptions(options)).toThrow(SandboxOptionError);
    expect(() => resolveOptions(options)).toThrow(name);
  });

  it("fault rules are read from a file; errors name the problem", async () => {
    const [good, bad, missing] = ["good.json", "bad.json", "missing.json"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    await writeFile(good, '[{"kind": "size", "every": 2, "fault": "status", "status": 500}]');
    await writeFile(bad, "{");
    expect(resolveOptions({ faults: { file: good } }).faultRules).toEqual([
      { kind: "size", every: 2, times: 1, fault: "status", status: 500 },
    ]);
    expect(() => resolveOptions({ faults: { file: bad } })).toThrow(/not JSON.*bad\.json/);
    expect(() => resolveOptions({ faults: { file: missing } })).toThrow(/cannot be read.*missing\.json/);
    expect(() => resolveOptions({ faults: { file: "/dev/zero" } })).toThrow(/cannot be read.*zero/);
  });
});

it("a sandbox listens on the given address, or reports why it cannot", async () => {
  await using sandbox = await startSandbox({ host: "127.0.0.1" });
  await expect(startSandbox({ port: Number(new URL(sandbox.url).port) })).rejects.toMatchObject({
    code: "EADDRINUSE",
  });
});

it("closing works with open requests, and a second time", async () => {
  const sandbox = await startSandbox({ faults: [{ fault: "stall-headers" }] });
  const pending = fetch(sandbox.url).catch(() => "cut");
  while (sandbox.log().length === 0) await new Promise((resolve) => setImmediate(resolve));
  await sandbox.close();
  await sandbox.close();
  expect(await pending).toBe("cut");
});

describe("random numbers", () => {
  it("the same seed and stream give the same numbers, others different ones", () => {
    const draws = (...stream: number[]): number[] => {
      const random = new Random(1, ...stream);
      return Array.from({ length: 8 }, () => random.next());
    };
    expect(draws(1, 2)).toEqual(draws(1, 2));
    expect(draws(1, 2)).not.toEqual(draws(2, 1));
  });

  it("random integers are evenly distributed", () => {
    const random = new Random(5);
    const tenths = Array<number>(10).fill(0);
    for (let draw = 0; draw < 100_000; draw++) {
      const tenth = random.integer(10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it("apportion gives the exact total, and more to heavier weights", () => {
    fc.assert(
      fc.property(
        fc.nat(10_000),
        fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 1 }),
        (total, weights) => {
          const parts = apportion(total, weights);
          expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total);
          const sum = weights.reduce((left, right) => left + right, 0);
          parts.forEach((part, index) => {
            expect(Math.abs(part - ((weights[index] ?? 0) * total) / sum)).toBeLessThanOrEqual(1);
          });
        },
      ),
    );
  });

  it("the distributions have the documented tails", () => {
    expect(zipfWeights(3, 1.1)).toEqual([1, 2 ** -1.1, 3 ** -1.1]);
    expect(paretoQuantile(0, { shape: 1.5, most: 20 })).toBe(1);
    expect(paretoQuantile(0.5, { shape: 1.5, most: 20 })).toBeCloseTo(1.587, 3);
    expect(paretoQuantile(0.999999, { shape: 1.5, most: 20 })).toBe(20);
  });
});

it("two scrambled numbers are recovered only with the same key", () => {
  const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(uint32, uint32, uint32, (key, left, right) => {
      expect(unscramble(key, scramble(key, left, right))).toEqual([left, right]);
      expect(unscramble(key + 1, scramble(key, left, right))).not.toEqual([left, right]);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => unscramble(1, text) === null || /^[0-9a-f]{16}$/.test(text)));
});
