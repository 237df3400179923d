/** Runs whose process died, in the run log before and after the next run. */

import { expect, it } from "vitest";
import { listRuns } from "../../../src/mirror/runs/run-log.ts";
import { noHeaders } from "../../support/no-headers.ts";
import { beginRun, closeRun, crawl, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../support/world.ts";

const world = worldOf({
  "/": root(),
  "brands/": page(["brands/1/", "brands/2/"], null),
  "brands/1/": entity({ name: "one" }),
  "brands/2/": entity({ name: "two" }),
});
const lastAt = "2026-01-16T08:00:00.000Z";

/** A mirror in which run 2 received a changed and an unchanged resource, and was never closed. */
async function startWithOpenRun() {
  const rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, world);
  const runId = beginRun(mirror);
  const idOf = (path: string) =>
    mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck().get(urlOf(path)) ??
    0;
  const about = (path: string, fetchedAt: string) => ({ resourceId: idOf(path), fetchedAt });
  const body = Buffer.from(JSON.stringify({ ...JSON.parse(world.get(urlOf("brands/1/")) ?? ""), extra: 1 }));
  mirror.ingest(
    [
      { ...about("brands/2/", "2026-01-16T07:00:00.000Z"), outcome: "not-modified" },
      { ...about("brands/1/", lastAt), outcome: "body", status: 200, etag: null, headers: noHeaders, body },
    ],
    runId,
  );
  return { rig, mirror };
}

it("an open run is running while a process locks the mirror, and not finished after that", async () => {
  const { rig, mirror } = await startWithOpenRun();
  await using _rig = rig;
  const stateOf = () => rig.read((reader) => listRuns(reader, 1)[0]?.state);
  expect(stateOf()).toBe("running");
  mirror.close();
  expect(stateOf()).toBe("not-finished");
});

it("the next run closes a dead run at its last result, with the counts from the mirror", async () => {
  const { rig, mirror } = await startWithOpenRun();
  await using _rig = rig;
  mirror.close();
  const next = await rig.write();
  closeRun(next, beginRun(next));
  expect(listRuns(next, 2)[1]).toMatchObject({
    ...{ id: 2, state: "ended", stopped: "interrupted", endedAt: lastAt },
    counts: { requests: null, resources: { new: 0, changed: 1, unchanged: 1, gone: 0, failed: null } },
  });
});

it("a dead run without results ends at its start", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  beginRun(mirror);
  beginRun(mirror);
  const [, dead] = listRuns(mirror, 2);
  expect(dead?.endedAt).toBe(dead?.startedAt);
});
