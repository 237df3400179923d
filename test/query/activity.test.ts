import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, it } from "vitest";
import { readMirror } from "../../src/mirror/reader.ts";
import { readAgesOfChecks, readDays } from "../../src/query/status/activity.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const dayMillis = 86_400_000;
const folder = await temporaryFolder();
const file = join(folder.path, "catalogue.sqlite");
const sandbox = await startSandbox({ brands: 4, models: 10, sizes: 20 });
/** The clock of the syncs. */
let now = Date.UTC(2026, 10, 20, 12);
const clock = { now: () => now, sleep: async () => {}, random: () => 0.5 };
const counted: number[] = [];
for (const budget of [12, 1000]) {
  const report = await sync({ file, baseUrl: sandbox.url, budget, clock });
  counted.push(report.requests.counted);
  now += 2 * dayMillis;
}
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

it("each day has its counted requests, and the bras of the models that were held at its end", () => {
  const days = readMirror(file, readDays);
  expect(days.map(({ day, counted }) => [day, counted])).toEqual([
    [Date.UTC(2026, 10, 20), counted[0]],
    [Date.UTC(2026, 10, 22), counted[1]],
  ]);
  const db = new Database(file, { readonly: true });
  const all = db.prepare("select total(bra_count) from model_current").pluck().get();
  const early = db
    .prepare("select total(bra_count) from model_current where first_seen_at is not null and checked_at < ?")
    .pluck()
    .get("2026-11-21T00:00:00.000Z");
  db.close();
  expect(days.at(-1)?.brasCovered).toBe(all);
  expect(days[0]?.brasCovered).toBeLessThan(Number(all));
  expect(days[0]?.brasCovered).toBeGreaterThanOrEqual(Number(early));
});

it("every held resource is in one age of checks", () => {
  const held = readMirror(file, ({ db }) =>
    db.prepare("select count(*) from _resource where state = 'held'").pluck().get(),
  );
  const agesAfter = (days: number) =>
    readMirror(file, (mirror) => readAgesOfChecks(mirror, now + days * dayMillis)).map(
      ({ resources }) => resources,
    );
  for (const days of [0, 5, 28, 200]) {
    expect(agesAfter(days).reduce((sum, count) => sum + count)).toBe(held);
  }
  expect(agesAfter(200)).toEqual([0, 0, 0, 0, held]);
});
