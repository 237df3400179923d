import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { fetchesIn, urlsOf } from "../support/requests.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 4, models: 12, sizes: 40, pageSize: 3 };
const daySeconds = 86_400;

/** The kinds that a sync asks for, in this order, and how many of each. */
async function askedBy(rig: Rig, options: Partial<SyncOptions> = {}): Promise<[string, number][]> {
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

describe("an incremental sync", () => {
  it("checks listings and brands before what they list", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    const kinds = (await askedBy(rig)).map(([kind]) => kind);
    const firstOther = kinds.findIndex((kind) => !["root", "brands", "brand", "models"].includes(kind));
    expect(kinds.slice(0, 2)).toEqual(["root", "brands"]);
    expect(kinds.slice(firstOther)).not.toContain("brands");
    expect(kinds.slice(firstOther)).not.toContain("models");
  });

  it("asks first for what a changed parent makes suspect", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    const { actions } = rig.sandbox.advance({ kind: "size", changes: 1 });
    const size = actions.find(({ kind }) => kind === "size")?.url;
    rig.sandbox.clearLog();
    await rig.sync({ concurrency: 1 });
    const asked = rig.sandbox.log().map(({ url }) => url);
    const rest = asked.filter((url) => kindOf(rig, url) === "size");
    expect(rest.indexOf(size ?? "")).toBeLessThan(countOf(rig, "size") / 2);
    expect(asked).toContain(size);
  });

  it("sends no more free checks than it may, and is complete where nothing more is owed", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    rig.sandbox.clearLog();
    const report = await rig.sync({ maxFreeChecks: 10 });
    expect(rig.sandbox.log().length).toBeLessThanOrEqual(11);
    expect(report).toMatchObject({ complete: true, stopped: null, requests: { counted: 0 } });
    const total = [...rig.sandbox.truth()].length;
    expect(report.resources).toMatchObject({ pending: 0, notChecked: total - report.requests.sent });
  });

  it("leaves alone what was checked recently", async () => {
    await using rig = await heldRig();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds / 2 });
    expect(await askedBy(rig, { skipFresherThanMillis: daySeconds * 1000 })).toEqual([]);
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    expect((await askedBy(rig, { skipFresherThanMillis: daySeconds * 1000 })).length).toBeGreaterThan(0);
  });

  it("goes on to the rest the next time, until everything is checked within max staleness", async () => {
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

it("a clock that was ahead and is put back leaves nothing unchecked", async () => {
  await using rig = await startRig(world);
  const aheadMillis = 400 * daySeconds * 1000;
  await rig.sync({ clock: { ...rig.clock, now: () => rig.clock.now() + aheadMillis } });
  rig.sandbox.clearLog();
  await rig.sync();
  expect(urlsOf(rig.sandbox.log())).toEqual([...rig.sandbox.truth()].map(({ url }) => url).sort());
});

it("a check that fails is told as failed, and nothing else as pending", async () => {
  await using rig = await heldRig();
  rig.sandbox.setFaults([{ kind: "brand", positions: [1], fault: "not-json", times: "always" }]);
  const report = await rig.sync();
  expect(report.resources).toMatchObject({ failed: 1, pending: 0 });
});

describe("where a check costs as much as a fetch", () => {
  it("only what is owed is asked for", async () => {
    await using rig = await heldRig({ etag: "none" });
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    expect(await askedBy(rig)).toEqual([["root", 1]]);
    rig.sandbox.moveClock({ advanceSeconds: 5 * daySeconds });
    const kinds = new Set((await askedBy(rig)).map(([kind]) => kind));
    expect(kinds).toEqual(new Set(["root", "brands", "brand", "models"]));
  });

  it("nothing grows older than max staleness", async () => {
    await using rig = await heldRig({ etag: "none" });
    rig.sandbox.moveClock({ advanceSeconds: 31 * daySeconds });
    rig.sandbox.clearLog();
    const report = await rig.sync();
    expect(urlsOf(rig.sandbox.log())).toEqual([...rig.sandbox.truth()].map(({ url }) => url).sort());
    expect(report.complete).toBe(true);
  });

  it("an age that cannot be held keeps the mirror from being complete", async () => {
    await using rig = await heldRig({ etag: "none" });
    rig.sandbox.moveClock({ advanceSeconds: 31 * daySeconds });
    const report = await rig.sync({ budget: 20 });
    expect(report).toMatchObject({ complete: false, stopped: "budget" });
    expect(report.resources.pending).toBeGreaterThan(0);
  });

  it("the service that counts its 304s is checked no more than what is owed", async () => {
    await using rig = await heldRig({ countNotModified: true, allowance: 300 });
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    await rig.sync();
    rig.sandbox.moveClock({ advanceSeconds: daySeconds });
    const asked = (await askedBy(rig)).reduce((sum, [, count]) => sum + count, 0);
    expect(asked).toBeLessThan([...rig.sandbox.truth()].length / 4);
  });
});

describe("while something was never fetched", () => {
  it("most of what is asked is new, and a share goes to what is held", async () => {
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

  it("a run that goes on at once asks only for what is new", async () => {
    await using rig = await startRig(world);
    await rig.sync({ budget: 20 });
    rig.sandbox.clearLog();
    await rig.sync({ budget: 20 });
    expect(rig.sandbox.log().filter(({ conditional }) => conditional)).toEqual([]);
  });
});

describe("the order", () => {
  it("by depth is one brand after the other", async () => {
    await using rig = await startRig(world);
    const kinds = (await askedBy(rig, { order: "depth" })).map(([kind]) => kind);
    expect(kinds.indexOf("size")).toBeLessThan(kinds.lastIndexOf("brand"));
  });

  it("by breadth is one level after the other", async () => {
    await using rig = await startRig(world);
    const kinds = (await askedBy(rig, { order: "breadth" })).map(([kind]) => kind);
    expect([...new Set(kinds)]).toEqual(["root", "brands", "brand", "models", "model", "sizes", "size"]);
  });

  it("by value brings models before sizes, and the most owned models' sizes first", async () => {
    await using rig = await startRig(world);
    const kinds = (await askedBy(rig, { order: "value" })).map(([kind]) => kind);
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
    const most = rig.read(({ db }) =>
      db.prepare<[], number>("select max(bra_count) from _model").pluck().get(),
    );
    expect(bras).toBe(most);
  });
});

describe("verifying", () => {
  it("checks everything known now, however many runs that takes, and then begins anew", async () => {
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

  it("comes before what is new, so that an allowance that runs out does not keep it from checking", async () => {
    await using rig = await startRig({ ...world, models: 40, sizes: 200 });
    await rig.sync({ budget: 60 });
    const held = rig.read(({ db }) =>
      db.prepare("select count(*) from _resource where state = 'held'").pluck().get(),
    );
    rig.sandbox.clearLog();
    await rig.sync({ mode: "verify", budget: 5 });
    expect(rig.sandbox.log().filter(({ conditional }) => conditional)).toHaveLength(Number(held));
  });

  it("about one brand does not end the cycle about everything", async () => {
    await using rig = await heldRig();
    const [brand] = [...rig.sandbox.truth()].filter(({ kind }) => kind === "brand");
    await rig.sync({ mode: "full", budget: 20 });
    await rig.sync({ mode: "full", brands: [String(brand?.body.body?.name)] });
    rig.sandbox.clearLog();
    await rig.sync({ mode: "full" });
    expect(rig.sandbox.log().length).toBeLessThan([...rig.sandbox.truth()].length - 19);
  });

  it("in full fetches also what a run in between only found unchanged", async () => {
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

  it("in full fetches everything again, without a validator", async () => {
    await using rig = await heldRig();
    rig.sandbox.clearLog();
    const report = await rig.sync({ mode: "full" });
    expect(fetchesIn(rig.sandbox.log())).toHaveLength([...rig.sandbox.truth()].length);
    expect(report.resources).toMatchObject({ new: 0, changed: 0 });
  });
});
