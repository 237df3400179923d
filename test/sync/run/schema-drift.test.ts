/** What the service sends beside its specification is reported once, by the first run that sees it, and stays recorded. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { createBackup } from "../../../src/archive/create.ts";
import { restoreBackup } from "../../../src/archive/restore.ts";
import type { Drift } from "../../../src/mirror/derive/drift.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import { rebuildMirror } from "../../../src/mirror/writer.ts";
import { runQuery } from "../../../src/query/sql/run-query.ts";
import { collectRows } from "../../query/support/collect-rows.ts";
import { callArmoire } from "../../support/run-armoire.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 3, models: 6, sizes: 12 };
const places: readonly Drift[] = [
  { kind: "brand", pointer: "/body/odd~1na~0me", code: "unknown-field" },
  { kind: "brand", pointer: "/body/surprise", code: "unknown-field" },
  { kind: "brand", pointer: "/links/surprise", code: "unknown-link" },
  { kind: "brand", pointer: "/meta/surprise", code: "unknown-field" },
  { kind: "brand", pointer: "/surprise", code: "unknown-field" },
];
const driftIn = (file: string) =>
  readMirror(file, ({ db }) =>
    db.prepare("select kind, pointer, code, run from schema_drift order by 1, 2, 3").all(),
  );

function runSync({ sandbox, file }: Rig, ...flags: readonly string[]) {
  const place = ["--mirror", file, "--data-dir", join(file, "..")];
  return callArmoire(["sync", "--base-url", sandbox.url, ...place, ...flags]);
}

/** Runs 1 and 3 get bodies as specified, run 2 brands with surprises. */
async function startRigWithDrift(): Promise<Rig> {
  const rig = await startRig(world);
  expect(await rig.sync()).toMatchObject({ complete: true, drift: [] });
  rig.sandbox.setFaults([{ kind: "brand", times: "always", fault: "unknown-fields" }]);
  expect((await rig.sync({ mode: "full" })).drift).toEqual(places);
  rig.sandbox.setFaults([]);
  expect((await rig.sync({ mode: "full" })).drift).toEqual([]);
  return rig;
}

const recorded = places.map((place) => ({ ...place, run: 2 }));

it("new fields and links are reported by the first run that sees them, and stay in schema_drift", async () => {
  await using rig = await startRigWithDrift();
  expect(driftIn(rig.file)).toEqual(recorded);
  const query = { file: rig.file, sql: "select count(*) from schema_drift" };
  for (const [run, count] of [
    [1, 0],
    [2, places.length],
  ] as const)
    expect(await collectRows((await runQuery({ ...query, asOf: { kind: "run", run } })).rows)).toEqual([
      [count],
    ]);
});

it("the same field of several items of a list is one place", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "models", times: "always", fault: "wrong-types" }]);
  const { drift } = await rig.sync();
  expect(drift).toEqual(
    ["name", "service_url"].map((name) => ({
      kind: "models",
      pointer: `/collection/*/${name}`,
      code: "wrong-type",
    })),
  );
});

it("a field of another type is drift", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brand", positions: [1], times: "always", fault: "wrong-types" }]);
  const { drift } = await rig.sync();
  expect(drift).toContainEqual({ kind: "brand", pointer: "/body/name", code: "wrong-type" });
  expect(new Set(drift.map(({ code }) => code))).toEqual(new Set(["wrong-type"]));
});

it("a rebuild and a backup keep when drift was first seen", async () => {
  await using rig = await startRigWithDrift();
  await rebuildMirror({ file: rig.file, kinds, openedAt: "2026-01-01T00:00:00.000Z" });
  expect(driftIn(rig.file)).toEqual(recorded);
  const folder = join(rig.file, "..");
  const { file } = await createBackup({ mirror: rig.file, account: null, to: folder });
  const mirror = join(folder, "restored.sqlite");
  await restoreBackup({ file, mirror, kinds, openedAt: "2026-01-01T00:00:00.000Z" });
  expect(driftIn(mirror)).toEqual(recorded);
});

it("--on-drift fail exits with 16 after a run that first sees drift, and everything is saved", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brand", times: "always", fault: "unknown-fields" }]);
  const first = await runSync(rig, "--on-drift", "fail");
  expect(first.exitCode).toBe(16);
  expect(first.stdout).toContain(
    "New in the service's responses: brand /body/odd~1na~0me (unknown field), brand /body/surprise (unknown field), " +
      "brand /links/surprise (unknown link), 2 more. ",
  );
  expect(first.stdout).toContain("Everything is up to date");
  expect(driftIn(rig.file)).toHaveLength(places.length);
  expect((await runSync(rig, "--on-drift", "fail")).exitCode).toBe(0);
});

it("by default a sync with drift succeeds, and --quiet prints a warning", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brand", times: "always", fault: "unknown-fields" }]);
  expect(await runSync(rig, "--quiet")).toMatchObject({
    exitCode: 0,
    stdout: "",
    stderr: expect.stringMatching(/^armoire: sync: New in the service's responses: .*\n$/),
  });
});
