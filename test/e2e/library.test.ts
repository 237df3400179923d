import { existsSync } from "node:fs";
import { expect, expectTypeOf, it } from "vitest";
import {
  addSchedule,
  type Clock,
  changeLogText,
  KeyError,
  kinds,
  listRuns,
  loadSnapshots,
  openChangeLog,
  openMirrorReader,
  planSync,
  publishSnapshot,
  runQuery,
  runSchedules,
  runWorker,
  type SyncOptions,
  search,
  showResource,
  sync,
  syncMedia,
} from "../../src/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFixture } from "./support/fixture.ts";

it("the library exports its error classes", async () => {
  await using fixture = await createFixture();
  const mirror = openMirrorReader(fixture.mirror);
  expect(() => showResource(mirror, "brand", "nobody")).toThrow(KeyError);
  mirror.close();
});

it("the library exports the types of its options", () => {
  expectTypeOf<NonNullable<SyncOptions["clock"]>>().toEqualTypeOf<Clock>();
});

it("a sync refuses options that are out of range before it requests or creates anything", async () => {
  await using fixture = await createFixture();
  const { sandbox } = fixture;
  const counts = ["budget", "reserve", "concurrency", "maxFreeChecks", "checkConcurrency"];
  const refused: readonly Record<string, unknown>[] = [
    ...counts.flatMap((name) => [Number.NaN, -1, 0.5, "5"].map((value) => ({ [name]: value }))),
    ...[{ concurrency: 0 }, { checkConcurrency: 0 }],
    ...[{ maxStalenessMillis: Number.NaN }, { skipFresherThanMillis: -1 }],
    { area: "users" },
  ];
  sandbox.clearLog();
  for (const options of refused) {
    const file = fixture.newPath();
    const outcome = sync({ file, baseUrl: sandbox.url, ...options });
    await expect(outcome, JSON.stringify(options)).rejects.toThrow(RangeError);
    expect(existsSync(file)).toBe(false);
  }
  expect(sandbox.log()).toEqual([]);
});

it("the other functions refuse numbers that are out of range", async () => {
  await using fixture = await createFixture();
  const { mirror: file, sandbox } = fixture;
  const baseUrl = sandbox.url;
  const none = Number.NaN;
  const now = Date.now;
  const mirror = openMirrorReader(file);
  const schedule = {
    ...{ name: "daily", cron: "0 6 * * *", tz: "UTC", args: ["sync"], folder: fixture.folder, mirror: file },
    ...{ dataDir: fixture.newPath(), clock: systemClock },
  };
  const calls: readonly (() => unknown)[] = [
    () => planSync({ file, baseUrl, budget: none }),
    () => search(mirror, "a", { limit: none }),
    () => runQuery({ file, sql: "select 1", timeoutMillis: none }),
    () => runQuery({ file, sql: "select 1", maxRows: none }),
    () => loadSnapshots({ file, sources: [], kinds, now, batchSize: none }),
    () => publishSnapshot({ mirror: file, folder: fixture.newPath(), now, keep: none } as never),
    () => syncMedia({ file, baseUrl, ledgerFile: fixture.newPath(), maxBytes: none }),
    () => listRuns(mirror, none),
    () => [...changeLogText(openChangeLog({ mirror: file }), "markdown", { limit: none })],
    () => addSchedule({ ...schedule, jitterMillis: none }),
    () => runSchedules({ ...schedule, signal: AbortSignal.abort(), maxRuns: none } as never),
    () => runWorker({ redis: "", principals: [], signal: AbortSignal.abort(), concurrency: none } as never),
  ];
  for (const call of calls) await expect(async () => call(), String(call)).rejects.toThrow(RangeError);
  mirror.close();
});
