/** What goes wrong with one resource stays with that resource: it is recorded, tried again, and stops nothing else. */
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { checkMirror } from "../../src/mirror/check/check.ts";
import { startRig } from "./support/rig.ts";

const world = { brands: 3, models: 6, sizes: 12 };

it.each([
  ["that asks to wait for ever", { fault: "status", status: 503, retryAfter: "1" }],
  ["that alone wants a credential", { fault: "not-authenticated" }],
] as const)("one page %s is reported, and the rest is held", async (_what, fault) => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "models", positions: [1], times: "always", ...fault }]);
  const report = await rig.sync({ concurrency: 1 });
  expect(report).toMatchObject({ complete: false, stopped: null, resources: { failed: 1, pending: 0 } });
  rig.sandbox.setFaults([]);
  expect(await rig.sync()).toMatchObject({ complete: true, resources: { failed: 0, pending: 0 } });
});

it("what failed in one run keeps the next one from being complete, until it succeeds", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brand", positions: [1], times: "always", fault: "not-json" }]);
  expect(await rig.sync({ budget: 4 })).toMatchObject({ complete: false, stopped: "budget" });
  const report = await rig.sync();
  expect(report).toMatchObject({ complete: false, stopped: null, resources: { failed: 1, pending: 0 } });
  rig.sandbox.setFaults([]);
  expect(await rig.sync()).toMatchObject({ complete: true });
});

it("what always fails does not keep the rest from being checked again", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brand", positions: [1], times: "always", fault: "not-json" }]);
  const first = await rig.sync();
  const second = await rig.sync();
  expect(second.resources).toMatchObject({ unchanged: first.resources.new, failed: 1 });
});

it("an address where there is no service is an error, and no tombstone", async () => {
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

it("a first sync that gets nothing leaves nothing behind", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "root", from: 1, times: "always", fault: "status", status: 404 }]);
  await expect(rig.sync()).rejects.toMatchObject({ code: "nothing-fetched" });
  expect(existsSync(rig.file)).toBe(false);
  expect(existsSync(`${rig.file}.lock`)).toBe(false);
});

it("a link that nobody knows is not followed in silence", async () => {
  await using rig = await startRig(world);
  await rig.sync({ depth: "brands" });
  await expect(rig.sync({ follow: ["same-cut"] })).rejects.toMatchObject({ code: "unknown-link" });
  expect(await rig.sync({ depth: "brands", follow: ["sizing"] })).toMatchObject({ complete: true });
});
