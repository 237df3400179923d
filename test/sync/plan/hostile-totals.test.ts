/** The sizes that lists state cost neither time nor memory, while the lists are read. */
import { expect, it } from "vitest";
import { readStatus } from "../../../src/query/status/status.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import type { SyncProgress } from "../../../src/sync/report.ts";
import { startRig } from "../support/rig.ts";

const numbersIn = (value: unknown): number[] =>
  typeof value === "object" && value !== null
    ? Object.values(value).flatMap(numbersIn)
    : [value].filter((part) => typeof part === "number");

it.each(
  (["brands", "models", "sizes"] as const).flatMap((kind) =>
    [1e9, Number.MAX_SAFE_INTEGER].map((total) => [kind, total] as const),
  ),
)("a list of %s that states %d items is expected to have at most a million", async (kind, value) => {
  await using rig = await startRig({ brands: 6, models: 12, sizes: 12, pageSize: 2 });
  rig.sandbox.setFaults([{ kind, times: "always", fault: "wrong-total", value }]);
  const seen: SyncProgress[] = [];
  await rig.sync({ budget: 6, order: "depth", onProgress: (read) => seen.push(read()) });
  const { forecast, due } = planSync({ file: rig.file, baseUrl: rig.sandbox.url, clock: rig.clock });
  const { kinds } = rig.read(readStatus);
  expect(due.reduce((sum, { fetch }) => sum + fetch, 0)).toBeLessThan(20);
  const expected = numbersIn(forecast?.depths.map((depth) => depth.kinds));
  expect(Math.max(...expected)).toBeLessThan(10_000_000);
  expect([due, kinds, forecast, seen].flatMap(numbersIn)).toSatisfy((all: number[]) =>
    all.every((number) => Number.isSafeInteger(number) || Math.abs(number) < 1e6),
  );
});
