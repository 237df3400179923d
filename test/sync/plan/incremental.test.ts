import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { fetchesIn, urlsOf } from "../support/requests.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 4, models: 12, sizes: 40, pageSize: 3 };
const daySeconds = 86_400;

/** The kinds that a sync requests, in order, with their counts. */
async function requestedKinds(rig: Rig, options: Partial<SyncOptions> = {}): Promise<[string, number][]> {
  rig.sandbox.clearLog();
  await rig.sync({ concurrency: 1, ...options });
  const counts: [string, number][] = [];
  for (const { url } of rig.sandbox.log()) {
    const kind = kindOf(rig, url);
    const last = counts.at(-1);
    if (last?.[0] === kind) last[1]++;
    else counts.push([kind, 1]);
  }
  return counts;
}

function kindOf(rig: Rig, url: string): string {
  return rig.read(({ db }) => {
    return db.prepare<[string], string>("select kind from _resource where url = ?").pluck().get(url) ?? "?";
  });
}

async function heldRig(options: SandboxOptions = {}): Promise<Rig> {
  const rig = await startRig({ ...world, ...options });
  await rig.sync();
  return rig;
}

function countOf(rig: Rig, ...kinds: string[]): number {
  return [...rig.sandbox.truth()].filter(({ kind }) => kinds.includes(kind)).length;
}

describe("checks", () => {
  it("an incremental sync checks lists and brands before their items", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    const kinds = (await requestedKinds(rig)).map(([kind]) => kind);
    const firstOther = kinds.findIndex((kind) => !["root", "brands", "brand", "models"].includes(kind));
    expect(kinds.slice(0, 2)).toEqual(["root", "brands"]);
    expect(kinds.slice(firstOther)).not.toContain("brands");
    expect(kinds.slice(firstOther)).not.toContain("models");
  });

  it("an incremental sync checks the items of a changed resource first", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    const { actions } = rig.sandbox.advance({ kind: "size", changes: 1 });
    const size = actions.find(({ kind }) => kind === "size")?.url;
    rig.sandbox.clearLog();
    await rig.sync({ concurrency: 1 });
    const requested = rig.sandbox.log().map(({ url }) => url);
    const sizes = requested.filter((url) => kindOf(rig, url) === "size");
    expect(sizes.indexOf(size ?? "")).toBeLessThan(countOf(rig, "size") / 2);
    expect(requested).toContain(size);
  });

  it("an incremental sync sends at most `maxFreeChecks` free checks, and is complete if none of the others is due", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    rig.sandbox.clearLog();
    const report = await rig.sync({ maxFreeChecks: 10 });
    expect(rig.sandbox.log().length).toBeLessThanOrEqual(11);
    expect(report).toMatchObject({ complete: true, stopped: null, requests: { counted: 0 } });
    const total = [...rig.sandbox.truth()].length;
    expect(report.resources).toMatchObject({ pending: 0, notChecked: total - report.requests.sent });
  });

  it("an incremental sync does not check recently checked resources", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds / 2 });
    expect(await requestedKinds(rig, { skipFresherThanMillis: daySeconds * 1000 })).toEqual([]);
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    expect((await requestedKinds(rig, { skipFresherThanMillis: daySeconds * 1000 })).length).toBeGreaterThan(
      0,
    );
  });

  it("an incremental sync checks everything within the max staleness, over several runs", async () => {
    await using rig = await heldRig();
    const total = [...rig.sandbox.truth()].length;
    const checked = new Set<string>();
    for (let day = 0; day < 9; day++) {
      rig.sandbox.moveClock({ advanceSeconds: daySeconds });
      rig.sandbox.clearLog();
      await rig.sync({ maxFreeChecks: 30, maxStalenessMillis: 6 * daySeconds * 1000 });
      for (const { url } of rig.sandbox.log()) checked.add(url);
    }
    expect(checked.size).toBe(total);
  });
});

it("resources checked by a clock that was ahead are checked again", async () => {
  await using rig = await startRig(world);
  const aheadMillis = 400 * daySeconds * 1000;
  await rig.sync({ clock: { ...rig.clock, now: () => rig.clock.now() + aheadMillis } });
  rig.sandbox.clearLog();
  await rig.sync();
  expect(urlsOf(rig.sandbox.log())).toEqual([...rig.sandbox.truth()].map(({ url }) => url).sort());
});

it("a failed check is reported as failed, not as pending", async () => {
  await using rig = await heldRig();
  rig.sandbox.setFaults([{ kind: "brand", positions: [1], fault: "not-json", times: "always" }]);
  const report = await rig.sync();
  expect(report.resources).toMatchObject({ failed: 1, pending: 0 });
});

describe("if a check costs as much as a fetch", () => {
  it("only due checks are made", async () => {
    await using rig = await heldRig({ etag: "none" });
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    expect(await requestedKinds(rig)).toEqual([["root", 1]]);
    rig.sandbox.moveClock({ advanceSeconds: 5 * daySeconds });
    const kinds = new Set((await requestedKinds(rig)).map(([kind]) => kind));
    expect(kinds).toEqual(new Set(["root", "brands", "brand", "models"]));
  });

  it("everything is checked within the max staleness", async () => {
    await using rig = await heldRig({ etag: "none" });
    rig.sandbox.moveClock({ advanceSeconds: 31 * daySeconds });
    rig.sandbox.clearLog();
    const report = await rig.sync();
    expect(urlsOf(rig.sandbox.log())).toEqual([...rig.sandbox.truth()].map(({ url }) => url).sort());
    expect(report.complete).toBe(true);
  });

  it("the mirror is incomplete while resources exceed the max staleness", async () => {
    await using rig = await heldRig({ etag: "none" });
    rig.sandbox.moveClock({ advanceSeconds: 31 * daySeconds });
    const report = await rig.sync({ budget: 20 });
    expect(report).toMatchObject({ upToDate: false, stopped: "budget" });
    expect(report.resources.pending).toBeGreaterThan(0);
  });

  it("because 304s are counted, only due checks are made", async () => {
    await using rig = await heldRig({ countNotModified: true, allowance: 300 });
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    await rig.sync();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    const requests = (await requestedKinds(rig)).reduce((sum, [, count]) => sum + count, 0);
    expect(requests).toBeLessThan([...rig.sandbox.truth()].length / 4);
  });
});

describe("during a crawl", () => {
  it("most requests are fetches, and some are checks", async () => {
    await using rig = await startRig({ ...world, models: 40, sizes: 200 });
    await rig.sync({ budget: 60 });
    rig.sandbox.moveClock({ advanceSeconds: 2 * daySeconds });
    rig.sandbox.clearLog();
    await rig.sync({ budget: 60 });
    const log = rig.sandbox.log();
    const checks = log.length - fetchesIn(log).length;
    expect(fetchesIn(log).length).toBeGreaterThanOrEqual(59);
    expect(checks).toBeGreaterThan(3);
    expect(checks).toBeLessThan(log.length / 3);
  });

  it("a run right after another one only fetches", async () => {
    await using rig = await startRig(world);
    await rig.sync({ budget: 20 });
    rig.sandbox.clearLog();
    await rig.sync({ budget: 20 });
    expect(rig.sandbox.log().filter(({ conditional }) => conditional)).toEqual([]);
  });
});

describe("--order", () => {
  it("`depth` fetches one brand after the other", async () => {
    await using rig = await startRig(world);
    const kinds = (await requestedKinds(rig, { order: "depth" })).map(([kind]) => kind);
    expect(kinds.indexOf("size")).toBeLessThan(kinds.lastIndexOf("brand"));
  });

  it("`breadth` fetches one level after the other", async () => {
    await using rig = await startRig(world);
    const kinds = (await requestedKinds(rig, { order: "breadth" })).map(([kind]) => kind);
    expect([...new Set(kinds)]).toEqual(["root", "brands", "brand", "models", "model", "sizes", "size"]);
  });

  it("`value` fetches models before sizes, and the sizes of the most owned models first", async () => {
    await using rig = await startRig(world);
    const kinds = (await requestedKinds(rig, { order: "value" })).map(([kind]) => kind);
    expect(kinds.indexOf("sizes")).toBeGreaterThan(kinds.lastIndexOf("model"));
    const first = rig.sandbox.log().find(({ url }) => kindOf(rig, url) === "sizes")?.url ?? "";
    const bras = rig.read(({ db }) =>
      db
        .prepare<[string], number>(
          "select m.bra_count from _resource r join _model m on m.id = r.owner_id where r.url = ?",
        )
        .pluck()
        .get(first),
    );
    const maxBras = rig.read(({ db }) =>
      db.prepare<[], number>("select max(bra_count) from _model").pluck().get(),
    );
    expect(bras).toBe(maxBras);
  });
});

describe("full cycles", () => {
  it("--mode verify and --mode full check everything once over several runs, then begin anew", async () => {
    await using rig = await heldRig();
    rig.sandbox.clearLog();
    for (let run = 0; run < 3; run++) {
      const stop = new AbortController();
      await rig.sync({
        mode: "verify",
        signal: stop.signal,
        onProgress: () => {
          if (run < 2 && rig.sandbox.log().length > 15 * (run + 1)) stop.abort();
        },
      });
    }
    expect(urlsOf(rig.sandbox.log())).toEqual([...rig.sandbox.truth()].map(({ url }) => url).sort());
    rig.sandbox.clearLog();
    await rig.sync({ mode: "verify" });
    expect(rig.sandbox.log().filter(({ counted }) => counted)).toEqual([]);
    expect(rig.sandbox.log()).toHaveLength([...rig.sandbox.truth()].length);
  });

  it("--mode verify and --mode full make free checks before fetches, whatever the budget", async () => {
    await using rig = await startRig({ ...world, models: 40, sizes: 200 });
    await rig.sync({ budget: 60 });
    const held = rig.read(({ db }) =>
      db.prepare("select count(*) from _resource where state = 'held'").pluck().get(),
    );
    rig.sandbox.clearLog();
    await rig.sync({ mode: "verify", budget: 5 });
    expect(rig.sandbox.log().filter(({ conditional }) => conditional)).toHaveLength(Number(held));
  });

  it("--mode verify and --mode full of one brand do not end the cycle over everything", async () => {
    await using rig = await heldRig();
    const [brand] = [...rig.sandbox.truth()].filter(({ kind }) => kind === "brand");
    await rig.sync({ mode: "full", budget: 20 });
    await rig.sync({ mode: "full", brands: [String(brand?.body.body?.name)] });
    rig.sandbox.clearLog();
    await rig.sync({ mode: "full" });
    expect(rig.sandbox.log().length).toBeLessThan([...rig.sandbox.truth()].length - 19);
  });

  it("--mode verify and --mode full fetch in full also resources that a run in between found unchanged", async () => {
    await using rig = await heldRig();
    rig.sandbox.clearLog();
    await rig.sync({ mode: "full", budget: 10 });
    await rig.sync();
    const { complete } = await rig.sync({ mode: "full" });
    expect(complete).toBe(true);
    const fetched = rig.sandbox.log().filter(({ status, conditional }) => status === 200 && !conditional);
    const urls = [...rig.sandbox.truth()].map(({ url }) => url);
    expect(fetched.map(({ url }) => url).sort()).toEqual(urls.sort());
  });

  it("--mode verify and --mode full fetch everything again in full, without ETags", async () => {
    await using rig = await heldRig();
    rig.sandbox.clearLog();
    const report = await rig.sync({ mode: "full" });
    expect(fetchesIn(rig.sandbox.log())).toHaveLength([...rig.sandbox.truth()].length);
    expect(report.resources).toMatchObject({ new: 0, changed: 0 });
  });
});
