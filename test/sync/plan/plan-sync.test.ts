import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { planSync } from "../../../src/sync/plan/preview.ts";
import type { SyncProgress } from "../../../src/sync/report.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 3, models: 6, sizes: 12, pageSize: 2 };

function plan({ file, sandbox, clock }: Rig, options: Pick<SyncOptions, "depth" | "brands" | "follow"> = {}) {
  const { due, next } = planSync({ file, baseUrl: sandbox.url, clock, ...options });
  return {
    due: Object.fromEntries(due.map(({ kind, fetch, check }) => [kind, [fetch, check]])),
    next: next.map(({ url }) => url),
  };
}

describe("plans", () => {
  it("a plan before the first sync consists of the root", async () => {
    await using rig = await startRig(world);
    expect(plan(rig)).toEqual({ due: { root: [1, 0] }, next: [rig.sandbox.url] });
  });

  it("a plan starts with exactly the requests that the next run sends", async () => {
    await using rig = await startRig(world);
    await rig.sync({ budget: 9 });
    const { next } = plan(rig);
    rig.sandbox.clearLog();
    await rig.sync({ budget: 2, concurrency: 1 });
    expect(rig.sandbox.log().map(({ url }) => url)).toEqual(next.slice(0, 2));
  });

  it("a plan of a complete mirror consists of checks", async () => {
    await using rig = await startRig(world);
    await rig.sync({ depth: "brands" });
    const checks = { root: [0, 1], brands: [0, 2], brand: [0, 3] };
    expect(plan(rig, { depth: "brands" }).due).toEqual(checks);
    expect(plan(rig).due).toEqual({ models: [3, 0] });
  });

  it("a plan of one brand consists of its resources, or of the list if the brand is unknown", async () => {
    await using rig = await startRig(world);
    await rig.sync({ depth: "brands" });
    const [brand] = [...rig.sandbox.truth()].filter(({ kind }) => kind === "brand");
    const known = plan(rig, { brands: [String(brand?.body.body?.name)] });
    expect(known).toEqual({ due: { models: [1, 0] }, next: [brand?.body.links.models] });
    expect(() => plan(rig, { brands: ["unknown"] })).toThrow('no brand called "unknown"');
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    expect(plan(rig, { brands: ["unknown"] }).due).toEqual({ root: [0, 1], brands: [0, 2] });
  });

  it.each([
    [{}, 11],
    [{ budget: 5 }, 5],
    [{ reserve: 4 }, 7],
    [{ budget: 9, reserve: 4 }, 7],
    [{ reserve: 50 }, 0],
  ])("a plan with %o and 11 of 20 requests left may spend %d", async (limits, spendable) => {
    await using rig = await startRig({ ...world, allowance: 20 });
    await rig.sync({ budget: 9 });
    const { file, sandbox, clock } = rig;
    expect(planSync({ file, baseUrl: sandbox.url, clock, ...limits }).spendable).toBe(spendable);
  });

  it("a plan gives the reason `again` for a held resource that is due again", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    const db = new Database(rig.file);
    db.exec(`update _resource set state = 'due', checked_run = 0 where kind = 'model'`);
    db.close();
    const { file, sandbox, clock } = rig;
    const { next } = planSync({ file, baseUrl: sandbox.url, clock });
    const reasons = next.filter(({ kind }) => kind === "model").map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(["again"]));
  });

  it("a plan finds the same with what the last run has stored as without it", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.advance({ changes: 6, additions: 2 });
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    await rig.sync({ budget: 4, maxFreeChecks: 9 });
    const { file, sandbox, clock } = rig;
    const start = clock.now();
    const planAt = (days: number) =>
      planSync({ file, baseUrl: sandbox.url, clock: { ...clock, now: () => start + days * 86_400_000 } });
    const days = [-3, 0, 1, 29, 60];
    const withStored = days.map(planAt);
    const db = new Database(file);
    expect(db.prepare("select coverage_json from _run order by id desc limit 1").pluck().get()).toContain(
      '"observed":{"changes":',
    );
    db.exec("update _run set coverage_json = null");
    db.close();
    expect(days.map(planAt)).toEqual(withStored);
    expect(new Set(withStored.map(({ due }) => JSON.stringify(due))).size).toBeGreaterThan(1);
  });

  it("a plan sends no request and does not change the mirror", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.clearLog();
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    plan(rig, { follow: ["related"], brands: ["unknown"] });
    expect(rig.sandbox.log()).toEqual([]);
    expect(rig.read(({ db }) => db.prepare("select count(*) from _run").pluck().get())).toBe(1);
  });
});

it("progress counts held and known resources of each kind, up to all of them", async () => {
  await using rig = await startRig(world);
  const seen: SyncProgress[] = [];
  await rig.sync({ onProgress: (read) => seen.push(read()) });
  const kinds = ["root", "brands", "brand", "models", "model", "sizes", "size"];
  expect(seen.at(-1)?.kinds.map(({ kind }) => kind)).toEqual(kinds);
  for (const { kinds: counted } of seen)
    for (const { held, known } of counted) expect(held).toBeLessThanOrEqual(known);
  expect(seen.at(-1)).toMatchObject({ pending: 0, requests: { sent: [...rig.sandbox.truth()].length } });
  const truth = [...rig.sandbox.truth()].filter(({ kind }) => kind === "size");
  expect(seen.at(-1)?.kinds.at(-1)).toEqual({ kind: "size", held: truth.length, known: truth.length });
});

it("the forecast counts failed models as missing, not as absent", async () => {
  await using rig = await startRig({ brands: 2, models: 6, sizes: 6 });
  rig.sandbox.setFaults([{ kind: "model", positions: [1, 2], fault: "not-json", times: "always" }]);
  await rig.sync();
  const { forecast } = planSync({ file: rig.file, baseUrl: rig.sandbox.url });
  const bras = rig.read(({ db }) => db.prepare("select sum(bra_count) from brand").pluck().get());
  expect(forecast?.coverage.expected).toBe(bras);
  expect(forecast?.depths[1]?.remainingRequests).toBe(2);
});
