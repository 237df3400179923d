import Database from "better-sqlite3";
import { expect, it, vi } from "vitest";
import {
  eachCurrentRevision,
  eachRevision,
  eachRevisionOf,
} from "../../../src/mirror/bodies/read-revisions.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { crawl, startMirrorRig } from "../support/mirror-rig.ts";
import { worldOfTruth } from "../support/world.ts";

it("each batch of revisions is searched from the end of the last one", async () => {
  await using sandbox = await startSandbox({ brands: 1, models: 1, sizes: 1 });
  await using rig = await startMirrorRig(sandbox.url);
  const mirror = await rig.write();
  crawl(mirror, worldOfTruth(sandbox.truth()));
  const { db } = mirror;
  using prepare = vi.spyOn(Database.prototype, "prepare");
  const searches: unknown[] = [];
  const generators = [
    eachRevision(db),
    eachCurrentRevision(db),
    eachRevisionOf(db, "select id from _resource"),
  ];
  for (const revisions of generators) {
    for (const _ of revisions) {
      const sql = prepare.mock.calls.map(([text]) => text).findLast((text) => text.includes("limit 500"));
      const plan = db.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`);
      searches.push(plan.get({ id: 0, seq: 0 })?.detail);
      break;
    }
  }
  expect(searches).toEqual(Array(3).fill("SEARCH v USING PRIMARY KEY ((resource_id,seq)>(?,?))"));
});
