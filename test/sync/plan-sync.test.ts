import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { planSync } from "../../src/sync/plan/preview.ts";
import type { SyncProgress } from "../../src/sync/report.ts";
import type { SyncOptions } from "../../src/sync/sync.ts";
import { type Rig, startRig } from "./support/rig.ts";

const world = { brands: 3, models: 6, sizes: 12, pageSize: 2 };

function plan({ file, sandbox, clock }: Rig, options: Pick<SyncOptions, "depth" | "brands" | "follow"> = {}) {
  const { due, next } = planSync({ file, baseUrl: sandbox.url, clock, ...options });
  return {
    due: Object.fromEntries(due.map(({ kind, fetch, check }) => [kind, [fetch, check]])),
    next: next.map(({ url }) => url),
  };
}

describe("a plan", () => {
  it("before the first sync is the front page", async () => {
    await using rig = await startRig(world);
    expect(plan(rig)).toEqual({ due: { root: [1, 0] }, next: [rig.sandbox.url] });
  });

  it("in the middle of a cycle is what is left of it, and the next run asks for exactly its first", async () => {
    await using rig = await startRig(world);
    await rig.sync({ budget: 9 });
    const { next } = plan(rig);
    rig.sandbox.clearLog();
    await rig.sync({ budget: 2, concurrency: 1 });
    expect(rig.sandbox.log().map(({ url }) => url)).toEqual(next.slice(0, 2));
  });

  it("once everything is held is to check all of it", async () => {
    await using rig = await startRig(world);
    await rig.sync({ depth: "brands" });
    const checks = { root: [0, 1], brands: [0, 2], brand: [0, 3] };
    expect(plan(rig, { depth: "brands" }).due).toEqual(checks);
    expect(plan(rig).due).toEqual({ models: [3, 0] });
  });

  it("of one brand is what belongs to it, or the listing where it is not known yet", async () => {
    await using rig = await startRig(world);
    await rig.sync({ depth: "brands" });
    const [brand] = [...rig.sandbox.truth()].filter(({ kind }) => kind === "brand");
    const known = plan(rig, { brands: [String(brand?.body.body?.name)] });
    expect(known).toEqual({ due: { models: [1, 0] }, next: [brand?.body.links.models] });
    expect(() => plan(rig, { brands: ["nobody"] })).toThrow('no brand called "nobody"');
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    expect(plan(rig, { brands: ["nobody"] }).due).toEqual({ root: [0, 1], brands: [0, 2] });
  });

  it.each([
    [{}, 11],
    [{ budget: 5 }, 5],
    [{ reserve: 4 }, 7],
    [{ budget: 9, reserve: 4 }, 7],
    [{ reserve: 50 }, 0],
  ])("with %o left of 20 may spend %d", async (limits, spendable) => {
    await using rig = await startRig({ ...world, allowance: 20 });
    await rig.sync({ budget: 9 });
    const { file, sandbox, clock } = rig;
    expect(planSync({ file, baseUrl: sandbox.url, clock, ...limits }).spendable).toBe(spendable);
  });

  it("says of what is due again though it was held that it is asked again", async () => {
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

  it("sends nothing and leaves the mirror as it is", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.clearLog();
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    plan(rig, { follow: ["related"], brands: ["nobody"] });
    expect(rig.sandbox.log()).toEqual([]);
    expect(rig.read(({ db }) => db.prepare("select count(*) from _run").pluck().get())).toBe(1);
  });
});

it("progress counts what is held of what is known, up to everything", async () => {
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
