/** What the specification leaves open: the shape of measurements, and what a deletion looks like. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { rebuildMirror } from "../../../src/mirror/writer.ts";
import { readStatus } from "../../../src/query/status/status.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { type Rig, startRig } from "../support/rig.ts";

const account = ({ sandbox }: Rig): Partial<SyncOptions> => ({
  ...{ area: "account", credential: bearerToken(sandbox.users[0]?.token ?? "") },
});

const rowsOf = (rig: Rig, sql: string): Record<string, unknown>[] =>
  rig.read(({ db }) => db.prepare<[], Record<string, unknown>>(sql).all());

const soundness = (rig: Rig) => rig.read((mirror) => checkMirror(mirror, kinds).problems);

async function expectSameWhenRebuilt(rig: Rig): Promise<void> {
  const before = rig.read(canonicalDump);
  expect(soundness(rig)).toEqual([]);
  await rebuildMirror({ file: rig.file, kinds, openedAt: "2026-01-15T12:00:00.000Z" });
  expect(rig.read(canonicalDump)).toEqual(before);
  expect(soundness(rig)).toEqual([]);
}

describe("shapes of measurements", () => {
  const values =
    "select href, n, name, value from measurement_value where name = 'measured_on' order by href, n";

  it("measurements linked by pages of a list have a row each", async () => {
    await using rig = await startRig({ measurements: "linked", pageSize: 5 });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true });
    const held = rowsOf(rig, values);
    expect(held.length).toBeGreaterThan(5);
    expect(new Set(held.map(({ href }) => href)).size).toBe(held.length);
    expect(held.every(({ n, value }) => n === 0 && /^20\d\d-/.test(String(value)))).toBe(true);
    expect(soundness(rig)).toEqual([]);
  });

  it("measurements inside a list have a row each, with nested values kept as JSON", async () => {
    await using rig = await startRig({ measurements: "inline" });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true, resources: { failed: 0 } });
    const held = rowsOf(rig, values);
    expect(held.map(({ n }) => n)).toEqual(held.map((_, n) => n));
    expect(held.length).toBeGreaterThan(5);
    const [first] = rowsOf(rig, "select payload ->> '$.method.unit' as unit from measurement where n = 0");
    expect(first).toEqual({ unit: "cm" });
    expect(rowsOf(rig, "select * from measurement_value where name = 'method'")).toEqual([]);
    expect(rowsOf(rig, "select * from _issue where code <> 'unknown-link'")).toEqual([]);
    expect(soundness(rig)).toEqual([]);
  });

  it("an emptied list of measurements inside the user is reported, and needs approval", async () => {
    await using rig = await startRig({ measurements: "inline" });
    await rig.sync(account(rig));
    const before = rowsOf(rig, values);
    rig.sandbox.editUser("anna", { measurements: 0 });
    const list = { url: expect.stringContaining("measurements"), kind: "measurements", items: before.length };
    // Also at a later sync.
    for (let runs = 0; runs < 2; runs++) {
      expect(await rig.sync(account(rig))).toMatchObject({
        complete: false,
        stopped: "approval",
        resources: { awaitingApproval: before.length },
      });
      expect(rig.read(readStatus)).toMatchObject({ complete: false, emptiedLists: [list] });
    }
    // It is a value of the list, so the new body has replaced it.
    expect(rowsOf(rig, values)).toEqual([]);
    for (const approve of [true, false])
      expect(await rig.sync({ ...account(rig), approve })).toMatchObject({ complete: true, stopped: null });
    expect(rig.read(readStatus).emptiedLists).toEqual([]);
    // The past keeps them.
    const past = rig.read(({ db }) => db.prepare("select count(*) from _measurement_past").pluck().get());
    expect(past).toBe(before.length);
    expect(soundness(rig)).toEqual([]);
    // A list that has items again needs no approval.
    rig.sandbox.editUser("anna", { measurements: 2 });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true });
    rig.sandbox.editUser("anna", { measurements: 0 });
    expect(await rig.sync(account(rig))).toMatchObject({ stopped: "approval" });
  });

  it("measurements in one entity have one row, which is checked like other resources", async () => {
    await using rig = await startRig({ measurements: "entity" });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true, resources: { failed: 0 } });
    expect(rowsOf(rig, values)).toHaveLength(1);
    const [row] = rowsOf(rig, "select json_array_length(payload, '$.history') as earlier from measurement");
    expect(row?.earlier).toBeGreaterThan(5);
    rig.sandbox.editUser("anna", { measurements: 3 });
    expect(await rig.sync(account(rig))).toMatchObject({
      complete: true,
      requests: { counted: 1 },
      resources: { changed: 1 },
    });
    expect(rowsOf(rig, "select json_array_length(payload, '$.history') as earlier from measurement")).toEqual(
      [{ earlier: 2 }],
    );
    expect(soundness(rig)).toEqual([]);
  });

  it("measurements may be missing", async () => {
    await using rig = await startRig();
    rig.sandbox.editUser("anna", { measurements: 0 });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true });
    expect(rowsOf(rig, "select * from measurement")).toEqual([]);
    rig.sandbox.editUser("anna", { measurements: 2 });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true, resources: { new: 2 } });
  });

  it("measurements may change their shape without a loss", async () => {
    await using rig = await startRig({ measurements: "linked", pageSize: 100 });
    await rig.sync(account(rig));
    const before = rowsOf(rig, values).length;
    const body = {
      self: null,
      rel: "entity",
      spec: null,
      links: {},
      meta: {},
      body: { measured_on: "2026-01-01" },
    };
    rig.sandbox.setFaults([
      { kind: "measurements", fault: "text", value: JSON.stringify(body), times: "always" },
    ]);
    expect(await rig.sync(account(rig))).toMatchObject({ resources: { failed: 0, gone: 0, changed: 1 } });
    expect(rowsOf(rig, values)).toHaveLength(before + 1);
    await expectSameWhenRebuilt(rig);
    rig.sandbox.setFaults([]);
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true, resources: { failed: 0, gone: 0 } });
    expect(rowsOf(rig, values)).toHaveLength(before);
    await expectSameWhenRebuilt(rig);
  });
});

describe("deletions", () => {
  const bras = "select count(*) as held, sum(gone_at is not null) as gone from bra";

  it("a deletion at the service makes a tombstone, which keeps its values and can be revived with its history", async () => {
    await using rig = await startRig();
    await rig.sync(account(rig));
    const [last] = rowsOf(rig, "select href, name, note from bra order by href desc limit 1");
    rig.sandbox.editUser("anna", { bras: 29 });
    expect(await rig.sync(account(rig))).toMatchObject({
      complete: true,
      resources: { gone: 1, awaitingApproval: 0 },
    });
    expect(rowsOf(rig, bras)).toEqual([{ held: 30, gone: 1 }]);
    expect(rowsOf(rig, "select href, name, note from bra where gone_at is not null")).toEqual([last]);
    rig.sandbox.editUser("anna", { bras: 30 });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true });
    expect(rowsOf(rig, bras)).toEqual([{ held: 30, gone: 0 }]);
  });

  it("a deletion at the service needs no approval if single bras are deleted, however few there are", async () => {
    await using rig = await startRig();
    rig.sandbox.editUser("anna", { bras: 3 });
    await rig.sync(account(rig));
    for (const left of [2, 1, 0]) {
      rig.sandbox.editUser("anna", { bras: left });
      expect(await rig.sync(account(rig))).toMatchObject({
        complete: true,
        resources: { gone: 1, awaitingApproval: 0 },
      });
    }
    expect(rowsOf(rig, bras)).toEqual([{ held: 3, gone: 3 }]);
  });

  it("a deletion at the service needs approval if many bras are deleted at once", async () => {
    await using rig = await startRig();
    await rig.sync(account(rig));
    rig.sandbox.editUser("anna", { bras: 10 });
    const held = await rig.sync(account(rig));
    expect(held).toMatchObject({
      complete: false,
      stopped: "approval",
      resources: { gone: 0, awaitingApproval: 20 },
    });
    expect(rowsOf(rig, bras)).toEqual([{ held: 30, gone: 0 }]);
    expect(await rig.sync({ ...account(rig), approve: true })).toMatchObject({
      resources: { gone: 20, awaitingApproval: 0 },
    });
    expect(rowsOf(rig, bras)).toEqual([{ held: 30, gone: 20 }]);
  });

  it("the deletion of a linked measurement makes a tombstone too", async () => {
    await using rig = await startRig({ pageSize: 5 });
    await rig.sync(account(rig));
    const [{ n = 0 } = {}] = rowsOf(rig, "select count(*) as n from measurement") as { n?: number }[];
    expect(n).toBeGreaterThan(5);
    rig.sandbox.editUser("anna", { measurements: n - 1 });
    await rig.sync(account(rig));
    expect(rowsOf(rig, "select count(*) as n, sum(gone_at is not null) as gone from measurement")).toEqual([
      { n, gone: 1 },
    ]);
  });
});
