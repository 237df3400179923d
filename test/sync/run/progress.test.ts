import { expect, it } from "vitest";
import type { SyncProgress } from "../../../src/sync/report.ts";
import { startRig } from "../support/rig.ts";

it("progress counts remaining fetches, including expected ones, down to zero", async () => {
  await using rig = await startRig({ brands: 12, models: 40, sizes: 120, pageSize: 5 });
  const seen: SyncProgress[] = [];
  await rig.sync({ onProgress: (read) => seen.push(read()) });
  for (const { remainingRequests, pending } of seen)
    expect(remainingRequests).toBeGreaterThanOrEqual(pending);
  const early = seen
    .filter(({ kinds }) => kinds.length < 7)
    .map(({ remainingRequests }) => remainingRequests);
  expect(Math.max(...early)).toBeGreaterThan(100);
  expect(seen.at(-1)?.remainingRequests).toBe(0);
});

it("progress counts no free checks, and every fetch of --mode full", async () => {
  await using rig = await startRig({ brands: 3, models: 6, sizes: 12 });
  await rig.sync();
  const first = async (mode: "verify" | "full") => {
    const seen: SyncProgress[] = [];
    await rig.sync({ mode, onProgress: (read) => seen.push(read()) });
    return seen[0];
  };
  expect(await first("verify")).toMatchObject({ remainingRequests: 0, pending: expect.any(Number) });
  const full = await first("full");
  expect(full?.remainingRequests).toBe(full?.pending);
  expect(full?.pending).toBeGreaterThan(0);
});

it("progress of a sync of one brand does not count the rest of the catalogue", async () => {
  await using rig = await startRig({ brands: 12, models: 40, sizes: 120 });
  await rig.sync({ depth: "brands" });
  const [brand] = [...rig.sandbox.truth()].filter(({ kind }) => kind === "brand");
  const seen: SyncProgress[] = [];
  await rig.sync({ brands: [String(brand?.body.body?.name)], onProgress: (read) => seen.push(read()) });
  for (const { remainingRequests, pending } of seen) expect(remainingRequests).toBe(pending);
});
