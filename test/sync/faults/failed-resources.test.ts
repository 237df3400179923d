/** A failed resource affects no other one: its error is recorded, and a later run requests it again. */
import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { startRig } from "../support/rig.ts";

const world = { brands: 3, models: 6, sizes: 12 };

it.each([
  ["with an endless Retry-After", { fault: "status", status: 503, retryAfter: "1" }],
  ["that alone requires a credential", { fault: "not-authenticated" }],
] as const)("a page %s is reported, and everything else is held", async (_case, fault) => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "models", positions: [1], times: "always", ...fault }]);
  const report = await rig.sync({ concurrency: 1 });
  expect(report).toMatchObject({ complete: false, stopped: null, resources: { failed: 1, pending: 0 } });
  rig.sandbox.setFaults([]);
  expect(await rig.sync()).toMatchObject({ complete: true, resources: { failed: 0, pending: 0 } });
});

it("a failed resource makes later runs incomplete until it succeeds", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brand", positions: [1], times: "always", fault: "not-json" }]);
  expect(await rig.sync({ budget: 4 })).toMatchObject({ complete: false, stopped: "budget" });
  const report = await rig.sync();
  expect(report).toMatchObject({ complete: false, stopped: null, resources: { failed: 1, pending: 0 } });
  rig.sandbox.setFaults([]);
  expect(await rig.sync()).toMatchObject({ complete: true });
});

it("a resource that always fails does not prevent checks of the others", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brand", positions: [1], times: "always", fault: "not-json" }]);
  const first = await rig.sync();
  const second = await rig.sync();
  expect(second.resources).toMatchObject({ unchanged: first.resources.new, failed: 1 });
});

it("a mirror changed by hand, with failed resources that have a validator, is asked once", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  const db = new Database(rig.file);
  db.exec("update _resource set state = 'failed' where kind = 'model'");
  db.close();
  const { requests, resources } = await rig.sync();
  expect(requests.sent).toBe(resources.unchanged);
  expect(await rig.sync()).toMatchObject({ complete: true, resources: { failed: 0 } });
});

it("a base URL without a service is an error and creates no tombstones", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  rig.sandbox.setFaults([{ kind: "root", from: 1, times: "always", fault: "status", status: 404 }]);
  await expect(rig.sync()).rejects.toMatchObject({ code: "nothing-fetched" });
  const gone = rig.read(({ db }) =>
    db.prepare("select count(*) from _resource where state = 'gone'").pluck().get(),
  );
  expect(gone).toBe(0);
  expect(rig.read((mirror) => checkMirror(mirror, kinds).problems)).toEqual([]);
});

it("a first sync that fetches nothing leaves no mirror", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "root", from: 1, times: "always", fault: "status", status: 404 }]);
  await expect(rig.sync()).rejects.toMatchObject({ code: "nothing-fetched" });
  expect(existsSync(rig.file)).toBe(false);
  expect(existsSync(`${rig.file}.lock`)).toBe(false);
});

it("an unknown link name is rejected, and one that was seen is accepted", async () => {
  await using rig = await startRig(world);
  await rig.sync({ depth: "brands" });
  await expect(rig.sync({ follow: ["same-cut"] })).rejects.toMatchObject({ code: "unknown-link" });
  expect(await rig.sync({ depth: "brands", follow: ["sizing"] })).toMatchObject({ complete: true });
});
