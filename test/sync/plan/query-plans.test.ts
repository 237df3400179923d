/**
 * How SQLite runs the statements that a sync executes most often. The snapshot shows a lost index or a changed join order,
 * which no other test would notice before a mirror is large.
 */
import Database from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { dayMillis } from "../../../src/platform/clock.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { kindsInScope } from "../../../src/sync/options.ts";
import { createPlanner } from "../../../src/sync/plan/planner.ts";
import type { PlanRequest } from "../../../src/sync/plan/request.ts";
import { beginRun, closeRun, crawl, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { resultFrom, type World, worldOfTruth } from "../../mirror/support/world.ts";

const hottest = 30;

/** A search by key alone cannot become worse. */
const isTrivial = (plan: string): boolean =>
  /^ {2}SEARCH \w+ USING (INTEGER )?PRIMARY KEY \([^)]*\)$|^$/.test(plan);

it("a sync's most frequent statements use the same indexes as before", async () => {
  await using sandbox = await startSandbox({ brands: 12, models: 60, sizes: 300, pageSize: 5, seed: 7 });
  await using rig = await startMirrorRig(sandbox.url);
  (await rig.write()).close();
  const executions = countExecutions();
  const mirror = await rig.write();

  const truth = () => worldOfTruth(sandbox.truth());
  for (const _month of [1, 2]) {
    syncIncrementally(mirror, truth());
    crawl(mirror, truth(), { approve: true });
    sandbox.advance({ changes: 20, additions: 5, removals: 3 });
  }

  const plans = [...executions]
    .map(([sql, count]) => ({ sql, count, plan: planOf(mirror.db, sql) }))
    .filter(({ plan }) => !isTrivial(plan))
    .sort((a, b) => b.count - a.count || (a.sql < b.sql ? -1 : 1))
    .slice(0, hottest)
    .map(({ sql, plan }) => `${sql}\n${plan}\n`);
  await expect(plans.sort().join("\n")).toMatchFileSnapshot("../support/query-plans.txt");
});

function syncIncrementally(mirror: MirrorWriter, world: World): void {
  const runId = beginRun(mirror);
  mirror.addRoot(runId);
  const request: PlanRequest = {
    area: "catalogue",
    scope: { kinds: kindsInScope(kinds, "catalogue", "sizes", []), belowIds: null },
    order: "value",
    mode: "incremental",
    runId,
    cycleRun: runId,
    now: () => Date.UTC(2026, 1, 15),
    maxStalenessMillis: 30 * dayMillis,
    skipFresherThanMillis: 0,
    maxFreeChecks: 2000,
    allowance: () => ({ isAmple: false, checkPrice: "free" }),
  };
  const planner = createPlanner(mirror.db, request);
  for (;;) {
    const planned = planner.take(16, () => false);
    if (planned.length === 0) break;
    mirror.ingest(
      planned.map((resource) => resultFrom(world, resource)),
      runId,
    );
  }
  closeRun(mirror, runId, true);
}

/** Counts how often each statement that is prepared from now on is executed, by its text on one line. */
function countExecutions(): Map<string, number> {
  const executions = new Map<string, number>();
  const { prepare } = Database.prototype;
  const counted = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    const text = sql.replace(/\s+/g, " ").trim();
    for (const method of ["get", "all", "run", "iterate"] as const) {
      const execute = statement[method] as (...values: unknown[]) => unknown;
      Object.defineProperty(statement, method, {
        value: (...values: unknown[]) => {
          executions.set(text, (executions.get(text) ?? 0) + 1);
          return execute.apply(statement, values);
        },
      });
    }
    return statement;
  };
  Database.prototype.prepare = counted as typeof prepare;
  onTestFinished(() => {
    Database.prototype.prepare = prepare;
  });
  return executions;
}

/** Empty for a statement that reads no table. */
function planOf(db: Database.Database, sql: string): string {
  if (!/^(select|with|insert|update|delete)\b/.test(sql)) return "";
  const names = [...sql.matchAll(/[:@](\w+)/g)].map(([, name]) => [name, null]);
  const count = sql.replace(/'[^']*'/g, "").match(/\?/g)?.length ?? 0;
  const values = names.length > 0 ? [Object.fromEntries(names)] : Array(count).fill(null);
  const steps = db.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`).all(...values);
  return steps.map(({ detail }) => `  ${detail}`).join("\n");
}
