import { copyFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { storeCoverageAgain } from "../../../src/mirror/runs/coverage.ts";
import { dayMillis } from "../../../src/platform/clock.ts";
import { Random } from "../../../src/sandbox/random.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { prepareCheckQueries } from "../../../src/sync/plan/queries/check-queries.ts";
import type { PlanRequest } from "../../../src/sync/plan/request.ts";
import { sync } from "../../../src/sync/sync.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

const folder = await temporaryFolder();
const sandbox = await startSandbox({ brands: 6, models: 60, sizes: 300 });
const synced = join(folder.path, "synced.sqlite");
await sync({ file: synced, baseUrl: sandbox.url });
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

const kinds = ["root", "brands", "brand", "models", "model", "sizes", "size"];
const now = Date.now() + dayMillis;

/** Checks of one run or at random times, also in the future, and counts of bras that are large, missing, texts and fractions. */
function disturb(db: Database.Database, seed: number): void {
  const random = new Random(seed);
  const anyAge = () => (random.integer(1000) - 2) * (random.chance(0.25) ? dayMillis : 1000);
  const age = seed % 2 === 0 ? anyAge : () => dayMillis + random.integer(1000);
  const setTime = db.prepare("update _resource set checked_at = ? where id = ?");
  for (const id of db.prepare<[], number>("select id from _resource where state = 'held'").pluck().all())
    setTime.run(now - age(), id);
  const counts = [null, "many", 0, 1, 1, 2, 7, 7.5, 40, 900, 900, -3];
  for (const table of ["_model", "_size", "_brand"]) {
    const setCount = db.prepare(`update ${table} set bra_count = ? where id = ?`);
    for (const id of db.prepare<[], number>(`select id from ${table}`).pluck().all())
      setCount.run(counts[random.integer(counts.length)], id);
  }
  db.exec("update _resource set etag = null where id % 17 = 0");
}

/** All held resources with their scores. */
function bestOfAll(db: Database.Database, runId: number, max: number): number[] {
  return db
    .prepare<unknown[], number>(
      `select r.id from _resource r left join _brand b on b.id = r.id left join _model m on m.id = r.id left join _size s on s.id = r.id
         join (select value ->> 'kind' as kind, (value ->> '$.details.observed.changes' + 1.0) / (value ->> '$.details.observed.days' + 100) as rate
           from _run, json_each(coverage_json) where _run.id = ?) c on c.kind = r.kind
       where r.state = 'held' and r.etag is not null and r.checked_run < ?
       order by c.rate * (1 + coalesce(b.bra_count, m.bra_count, s.bra_count, 0)) * (? - r.checked_at) desc, r.id limit ?`,
    )
    .pluck()
    .all(runId - 1, runId, now, max);
}

describe("expected checks", () => {
  it.each([1, 2, 3, 4])("are the best of all scores in a mirror with odd counts and times (%i)", (seed) => {
    const file = join(folder.path, `${seed}.sqlite`);
    copyFileSync(synced, file);
    const db = new Database(file);
    try {
      disturb(db, seed);
      storeCoverageAgain(db);
      const runId = 2;
      for (const max of [1, 10, 60, 110, 200, 1000]) {
        const request: PlanRequest = {
          ...{ area: "catalogue", scope: { kinds, belowIds: null }, order: "value", mode: "incremental" },
          ...{ runId, cycleRun: runId, now: () => now, maxStalenessMillis: 1, skipFresherThanMillis: 0 },
          ...{ maxFreeChecks: max, allowance: () => ({ isAmple: false, checkPrice: "free" }) },
        };
        const expected = prepareCheckQueries(db, request).expected(false);
        expect(expected.map(({ id }) => id)).toEqual(bestOfAll(db, runId, max));
        expect(Object.keys(expected[0] ?? {}).sort()).toEqual(["id", "isFree", "kind"]);
      }
    } finally {
      db.close();
    }
  });
});
