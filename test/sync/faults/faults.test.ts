import { describe, expect, it } from "vitest";
import { listRuns } from "../../../src/mirror/runs/run-log.ts";
import { appCredential } from "../../../src/service/credentials/credential.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { rawResponse, startRawServer } from "../../support/raw-server.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 6, models: 24, sizes: 70, pageSize: 5 };

it.each(["flaky", "slow"] as const)(
  "temporary faults (%s) do not prevent a complete mirror",
  async (faults) => {
    await using rig = await startRig({ ...world, faults });
    const report = await rig.sync({ concurrency: 32 });
    expect(report).toMatchObject({ complete: true, stopped: null, resources: { failed: 0 } });
    expect(differencesFromTruth(rig)).toEqual([]);
    if (faults === "flaky") expect(report.requests.retried).toBeGreaterThan(0);
  },
);

describe("lasting faults", () => {
  it.each(["hostile", "broken"] as const)(
    "permanent faults (%s) are reported, affect no other resources, and are repaired by a later sync",
    async (faults) => {
      await using rig = await startRig({ ...world, faults });
      const report = await rig.sync();
      expect(report).toMatchObject({ complete: false, stopped: null, resources: { pending: 0 } });
      expect(report.resources.failed).toBeGreaterThan(0);
      expect(failuresOf(rig)).toHaveLength(report.resources.failed);
      expect(rig.read(problemsOf)).toEqual([]);
      const second = await rig.sync();
      expect(second.resources).toMatchObject({ new: 0, failed: report.resources.failed });
      rig.sandbox.setFaults([]);
      expect(await rig.sync()).toMatchObject({ complete: true });
      expect(failuresOf(rig)).toEqual([]);
      expect(differencesFromTruth(rig)).toEqual([]);
    },
  );

  it("permanent faults of a held resource leave its held content, with the error", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.setFaults([{ kind: "brand", every: 2, times: "always", fault: "status", status: 500 }]);
    expect(await rig.sync()).toMatchObject({ upToDate: false, resources: { failed: 3, gone: 0 } });
    expect(differencesFromTruth(rig)).toEqual([]);
    expect(failuresOf(rig)).toHaveLength(3);
    for (const { error } of failuresOf(rig)) expect(error).toContain("answered 500");
  });

  it("permanent faults that empty a list delete nothing", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.setFaults([{ kind: "brands", times: "always", fault: "empty-collection" }]);
    expect(await rig.sync()).toMatchObject({ resources: { gone: 0 } });
    rig.sandbox.setFaults([]);
    await rig.sync();
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});

describe("outages", () => {
  it("an outage of the service from the start fails the run with the reason", async () => {
    await using rig = await startRig({
      ...world,
      faults: [{ times: "always", fault: "status", status: 503 }],
    });
    await expect(rig.sync()).rejects.toMatchObject({
      code: "nothing-fetched",
      message: expect.stringContaining("answered 503"),
    });
    rig.sandbox.setFaults([]);
    expect(await rig.sync()).toMatchObject({ complete: true });
  });

  it("an outage of the service during a run ends it after some failures, and the next run continues", async () => {
    await using rig = await startRig({ brands: 3, models: 60, sizes: 60, pageSize: 100 });
    rig.sandbox.setFaults([{ kind: "model", from: 4, times: "always", fault: "hang-up" }]);
    const report = await rig.sync({ concurrency: 4 });
    expect(report).toMatchObject({ stopped: "error", complete: false });
    expect(report.resources.new).toBeGreaterThan(0);
    // Ten in a row, and the requests that were running.
    expect(report.resources.failed).toBeLessThanOrEqual(13);
    expect(report.resources.pending).toBeGreaterThan(40);
    rig.sandbox.setFaults([]);
    const held = report.resources.new;
    const { resources } = await rig.sync();
    expect(held + resources.new).toBeLessThanOrEqual([...rig.sandbox.truth()].length);
    await rig.sync();
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});

describe("other origins", () => {
  it("a link to another origin is counted as skipped and never requested", async () => {
    await using canary = await startRawServer((_request, socket) => socket.end(rawResponse(200)));
    await using rig = await startRig(world);
    const target = `${canary.origin}/{path}`;
    rig.sandbox.setFaults([
      { kind: "brand", positions: [1], times: "always", fault: "evil-links", link: "models", target },
      { kind: "brand", positions: [2], times: "always", fault: "evil-links", link: "related" },
      { kind: "brands", positions: [2], times: "always", fault: "set", pointer: "/meta/next", value: target },
      { kind: "sizes", positions: [1], times: "always", fault: "evil-links", target },
      { kind: "model", positions: [2], times: "always", fault: "redirect", target },
    ]);
    const credential = appCredential(rig.sandbox.app.key, rig.sandbox.app.secret);
    const report = await rig.sync({ credential, follow: ["related"] });
    expect(canary.connectionCount()).toBe(0);
    expect(report.resources.skipped).toBeGreaterThanOrEqual(4);
    expect(report.resources.failed).toBe(1);
    expect(rig.read(problemsOf)).toEqual([]);
    expect(new Set(rig.sandbox.log().map((entry) => entry.credential))).toEqual(new Set(["app:sandbox-app"]));
  });
});

describe("credentials", () => {
  it.each([401, 200])(
    "a rejected credential ends the run (status %d) and leaves the mirror unchanged",
    async (status) => {
      await using rig = await startRig(world);
      await rig.sync({ depth: "brands" });
      rig.sandbox.setFaults([
        { kind: "models", from: 2, times: "always", fault: "not-authenticated", status },
      ]);
      await expect(rig.sync()).rejects.toMatchObject({
        code: "not-authenticated",
        hint: expect.stringContaining("mirrored data stays"),
      });
      expect(rig.read(problemsOf)).toEqual([]);
      const lastRun = rig.read(({ db }) =>
        db.prepare("select ended_at is not null, stopped from _run").raw().all(),
      );
      expect(lastRun.at(-1)).toEqual([1, "error"]);
      expect(rig.read((mirror) => listRuns(mirror, 1)[0]?.error)).toMatch(/models/);
      rig.sandbox.setFaults([]);
      expect(await rig.sync()).toMatchObject({ complete: true, resources: { gone: 0 } });
      expect(differencesFromTruth(rig)).toEqual([]);
    },
  );
});

function failuresOf(rig: Rig): { url: string; error: string }[] {
  return rig.read(({ db }) =>
    db
      .prepare<[], { url: string; error: string }>("select url, error from _resource where error is not null")
      .all(),
  );
}
