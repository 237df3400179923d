import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { someOf } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { layouts } from "../support/layouts.ts";
import { urlsOf } from "../support/requests.ts";
import { startRig } from "../support/rig.ts";

describe.each(layouts)("a first sync from $name", ({ options }) => {
  it("a first sync stores every resource byte for byte, and every row", async () => {
    await using rig = await startRig({ ...options, preset: "small" });
    const report = await rig.sync();
    expect(differencesFromTruth(rig)).toEqual([]);
    const total = [...rig.sandbox.truth()].length;
    expect(report).toMatchObject({ run: 1, mirror: rig.file, complete: true, stopped: null, resumeAt: null });
    expect(report.resources).toEqual({
      ...{
        new: total,
        changed: 0,
        unchanged: 0,
        gone: 0,
        pending: 0,
        notChecked: 0,
        failed: 0,
        postponed: 0,
        skipped: 0,
        awaitingApproval: 0,
        partial: 0,
        missingLinks: 0,
      },
    });
    // The root is free, as the headers show.
    const counted = total - 1;
    expect(report.requests).toEqual({ sent: total, counted, notModified: 0, retried: 0, failed: 0 });
  });

  it("a first sync requests each resource once, unconditionally", async () => {
    await using rig = await startRig({ ...options, brands: 3, models: 12, sizes: 40, pageSize: 3 });
    await rig.sync();
    const log = rig.sandbox.log();
    expect(urlsOf(log)).toEqual([...rig.sandbox.truth()].map(({ url }) => url).sort());
    expect(log.filter(({ conditional }) => conditional)).toEqual([]);
  });
});

const variants: Readonly<Record<string, SandboxOptions>> = {
  "pages of one item": { pageSize: 1 },
  "collections of sizes in pages": { paginateSizes: true, pageSize: 2 },
  "weak validators": { etag: "weak" },
  "no validators": { etag: "none" },
  latency: { latencyMillis: 3 },
  "an allowance that is large enough": { allowance: 500 },
  "a brand without models": { brands: 1, models: 0 },
  "models without sizes": { sizes: 0 },
  "cursors on plain paths": { pagination: "cursor" },
};

describe("layouts and concurrency", () => {
  it.each(someOf(Object.entries(variants), 3))("a first sync is complete with %s", async (_name, options) => {
    await using rig = await startRig({ brands: 4, models: 12, sizes: 40, ...options });
    expect(await rig.sync()).toMatchObject({ complete: true, stopped: null });
    expect(differencesFromTruth(rig)).toEqual([]);
  });

  it.each([1, 2, 16])("a first sync is complete with %d requests at a time", async (concurrency) => {
    await using rig = await startRig({ brands: 4, models: 12, sizes: 40 });
    expect(await rig.sync({ concurrency })).toMatchObject({ complete: true });
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});
