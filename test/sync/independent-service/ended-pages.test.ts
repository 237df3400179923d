import { describe, expect, it } from "vitest";
import { dayMs, type Options } from "../../support/independent-service/options.ts";
import { someOf } from "../../support/thorough.ts";
import { type IndependentRig, startIndependentRig } from "./support/rig.ts";

const heldSizes = (rig: IndependentRig) =>
  rig.read(({ db }) =>
    db
      .prepare<[], number>("select count(*) from _resource where state = 'held' and kind = 'size'")
      .pluck()
      .get(),
  );

const countEnded = ({ service }: IndependentRig) =>
  service.requests.filter(({ status }) => status === service.options.endedCursor).length;

describe("addresses of pages that end each day", () => {
  const options = { cursorWindowMs: dayMs, endedCursor: 410 } as const;
  it.each(someOf(["verify", "incremental"] as const, 1))(
    "are not requested on a later day (%s)",
    async (mode) => {
      await using rig = await startIndependentRig(options);
      await rig.sync();
      for (let day = 0; day < 2; day++) {
        rig.advance(dayMs);
        const report = await rig.sync({ mode });
        expect(report).toMatchObject({
          complete: true,
          upToDate: true,
          resources: { failed: 0, partial: 0 },
        });
      }
      expect(countEnded(rig)).toBe(0);
    },
  );
});

describe("a crawl whose addresses of pages end each day", () => {
  async function crawl(options: Partial<Options>, days: number) {
    await using rig = await startIndependentRig({
      ...{ cursorWindowMs: dayMs, allowanceFields: "x-epoch", ...options },
      allowance: { requests: 60, windowMs: dayMs, start: "fixed", per: "service" },
    });
    const sizes: number[] = [];
    for (let day = 0; day < days; day++) {
      await rig.sync();
      sizes.push(heldSizes(rig) ?? 0);
      rig.advance(dayMs);
    }
    return { sizes, ended: countEnded(rig) };
  }

  const ends = [
    { endedCursor: 400 },
    { endedCursor: 404 },
    { endedCursor: 404, validators: "none" },
  ] as const;
  it.each(someOf(ends, 1))("fetches new sizes each day, and ended pages once (%o)", async (options) => {
    const { sizes, ended } = await crawl(options, 7);
    expect(new Set(sizes).size).toBe(sizes.length);
    // As many as are requested at once, before the first response.
    expect(ended).toBeLessThanOrEqual(4);
  });
});
