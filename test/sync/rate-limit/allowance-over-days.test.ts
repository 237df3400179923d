import { describe, expect, it } from "vitest";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { layouts } from "../support/layouts.ts";
import { fetchesIn, urlsOf } from "../support/requests.ts";
import { startRig } from "../support/rig.ts";
import { syncUntilComplete } from "../support/sync-until-complete.ts";

/** 17 resources, all counted but the root. */
const tiny = { brands: 2, models: 3, sizes: 5, pageSize: 2 };
const allowances = [1, 5, 15, 16, 40];

describe.each(layouts)("$name layout", ({ options }) => {
  it.each(options.layout === "plain" ? allowances : [4])(
    "an allowance of %d a day lets daily runs fetch each resource once, without a refusal",
    async (allowance) => {
      await using rig = await startRig({ ...options, ...tiny, allowance });
      const reports = await syncUntilComplete(rig, {});
      expect(differencesFromTruth(rig)).toEqual([]);
      const log = rig.sandbox.log();
      expect(urlsOf(fetchesIn(log))).toEqual([...rig.sandbox.truth()].map(({ url }) => url).sort());
      expect(log.filter(({ status }) => status !== 200 && status !== 304)).toEqual([]);
      const counted = log.filter((entry) => entry.counted).length;
      const fetching = reports.filter(({ requests }) => requests.counted > 0);
      expect(fetching.length).toBe(Math.ceil(counted / allowance));
      // If the last fetch spent the allowance, one more run makes the due checks.
      expect(reports.length - fetching.length).toBeLessThanOrEqual(1);
      expect(reports.slice(0, -1).map(({ stopped }) => stopped)).toEqual(
        reports.slice(1).map(() => "allowance"),
      );
    },
  );
});
