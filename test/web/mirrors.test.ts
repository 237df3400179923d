/** Mirrors that appear, are replaced, locked or damaged while they are served; and readers that are too slow. */
import { copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ChangeError } from "../../src/change/errors.ts";
import { takeLock } from "../../src/platform/process-lock.ts";
import { listCountedTables } from "../../src/query/lists/described-tables.ts";
import { serveMirror } from "../../src/web/mirrors/open-mirror.ts";
import { streamOf } from "../../src/web/rows.ts";
import { createServer } from "../../src/web/server.ts";
import { startServers } from "../../src/web/start-servers.ts";
import { createKeptValues, PendingValue, whenComputed } from "../../src/web/values/kept-values.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { send } from "./support/web-rig.ts";

let rig: Rig;
let other: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 2, models: 6, sizes: 20 });
  other = await startRig({ brands: 3, models: 6, sizes: 20, seed: 2 });
  await rig.sync();
  await other.sync();
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const brandsOf = (body: string) => JSON.parse(body).length;

it("without a mirror, every page explains how to make one, and shows it once it is there", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  let found: string | null = null;
  const server = await createServer({ findCatalogue: () => found, port: 0 });
  const page = await send(server, "/brands");
  expect([page.status, page.body.includes("armoire sync --base-url")]).toEqual([200, true]);
  expect((await send(server, "/brands.json")).status).toBe(404);
  copyFileSync(rig.file, file);
  found = file;
  expect(brandsOf((await send(server, "/brands.json")).body)).toBe(2);
  await server.close();
});

it("reads in one turn of the event loop see one state, and those of the next turn what was committed", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  copyFileSync(rig.file, file);
  const served = serveMirror(() => file);
  const nameNow = () =>
    served.readInTurn(undefined, ({ db }) =>
      db.prepare("select name from brand order by href limit 1").pluck().get(),
    );
  const before = nameNow();
  const writer = new Database(file);
  writer.exec("update _brand set name = 'Renamed'");
  writer.close();
  expect(nameNow()).toBe(before);
  await setImmediate();
  expect(nameNow()).toBe("Renamed");
  served.close();
});

it("a mirror that is replaced on disk is read anew, and so is one that is removed", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  copyFileSync(rig.file, file);
  const server = await createServer({ findCatalogue: () => file, port: 0 });
  expect((await send(server, "/brands")).body).toContain("2 brands");
  copyFileSync(other.file, `${file}.new`);
  renameSync(`${file}.new`, file);
  expect((await send(server, "/brands")).body).toContain("3 brands");
  renameSync(file, `${file}.old`);
  expect((await send(server, "/brands")).body).toContain("Nothing is held yet");
  await server.close();
});

it("new tables are noticed at any point in time", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  copyFileSync(rig.file, file);
  const server = await createServer({ findCatalogue: () => file, port: 0 });
  expect((await send(server, "/brands?as-of=1")).status).toBe(200);
  const db = new Database(file);
  db.exec("insert into _migration values ('9999-later', '2030-01-01')");
  db.exec("create table later (a)");
  db.close();
  const { status, body } = await send(server, "/brands?as-of=1");
  expect([status, body.includes("newer version of Armoire")]).toEqual([500, true]);
  await server.close();
  // Or the folder could not be searched for secrets.
  rmSync(file);
});

it("a locked mirror is one clear line, and is shown again afterwards", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  copyFileSync(rig.file, file);
  const db = new Database(file);
  db.pragma("locking_mode = exclusive");
  db.exec("begin exclusive; create table held (a)");
  const server = await createServer({ findCatalogue: () => file, port: 0 });
  const { status, headers, body } = await send(server, "/brands");
  expect([status, headers["retry-after"]]).toEqual([503, "5"]);
  expect(body).toContain("Another process uses the mirror exclusively");
  db.close();
  expect((await send(server, "/brands")).status).toBe(200);
  await server.close();
});

it("a damaged file is one clear line without a stack", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  copyFileSync(rig.file, file);
  truncateSync(file, 20_480);
  const errors: string[] = [];
  const server = await createServer({
    findCatalogue: () => file,
    port: 0,
    onError: (text) => errors.push(text),
  });
  const { status, body } = await send(server, "/models");
  expect([status, errors.length]).toEqual([500, 1]);
  expect(body).toContain("damaged");
  writeFileSync(file, "not a mirror");
  expect((await send(server, "/models")).body).toContain("not a SQLite file");
  await server.close();
});

it("rows stop for a reader that takes nothing, and for one that goes away", async () => {
  let ends = 0;
  const rows = Array.from({ length: 10 }, (_, n) => `${n}\n`);
  const stalled = streamOf(rows, () => ends++, 1).getReader();
  await stalled.read();
  await expect(stalled.closed).rejects.toThrow("too slow");
  expect(ends).toBe(1);
  await streamOf(rows, () => ends++).cancel();
  expect(ends).toBe(2);
  let text = "";
  for await (const chunk of streamOf(rows, () => ends++)) text += Buffer.from(chunk).toString();
  expect([text, ends]).toEqual([rows.join(""), 3]);
});

it("a value is computed again once the mirror has changed, at most every five seconds, and each minute", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  copyFileSync(rig.file, file);
  let now = 0;
  const values = createKeptValues({ now: () => now });
  const served = serveMirror(() => file, { onReplaced: values.clear });
  let computed = 0;
  const read = () => served.read(undefined, (mirror) => values.recent(mirror, "count", () => ++computed));
  expect(read()).toBe(1);
  now = 50_000;
  expect(read()).toBe(1);
  const db = new Database(file);
  db.exec("insert into _meta values ('later', '')");
  expect(read()).toBe(2);
  db.exec("insert into _meta values ('latest', '')");
  expect(read()).toBe(2);
  now = 56_000;
  expect(read()).toBe(3);
  now = 120_000;
  expect(read()).toBe(4);
  db.close();
  served.close();
  values.close();
});

describe("of a large mirror", () => {
  let now = 0;
  const values = createKeptValues({ now: () => now, threadFrom: 0 });
  const served = serveMirror(() => rig.file, { onReplaced: values.clear });
  const read = () => served.read(undefined, (mirror) => values.slow(mirror, "tables"));
  afterAll(() => {
    served.close();
    values.close();
  });

  it("slow values are those that a thread computes, and a page waits for the first ones", async () => {
    expect(read).toThrow(PendingValue);
    const tables = await whenComputed(read);
    expect(tables).toEqual(served.read(undefined, listCountedTables));
    expect(read()).toBe(tables);
    now = 100_000;
    // The thread computes a newer one meanwhile.
    expect(read()).toBe(tables);
    await expect.poll(read).not.toBe(tables);
    const known = read();
    now += 1_000_000;
    expect(read).toThrow(PendingValue);
    expect(await whenComputed(read)).not.toBe(known);
  });

  it("what its first pages need is computed before they are asked for", async () => {
    now += 1_000_000;
    const posted = vi.spyOn(Worker.prototype, "postMessage");
    served.read(undefined, values.prepare);
    const names = () => posted.mock.calls.map(([request]) => request.name);
    await expect.poll(() => names().at(-1)).toBe("plan");
    posted.mockRestore();
    expect(read()).toHaveLength(served.read(undefined, listCountedTables).length);
  });

  it("a mirror that changes is shown a minute late at most, and one that has changed as it is", async () => {
    const before = await whenComputed(read);
    const lock = takeLock(rig.file, { startedAt: "", busyMessage: "" });
    const db = new Database(rig.file);
    db.exec("insert into _meta values ('changed', '')");
    now += 59_000;
    expect(read()).toBe(before);
    await expect.poll(read).not.toBe(before);
    db.exec("update _meta set value = 'again' where key = 'changed'");
    // Longer for values that take long.
    now += 120_000;
    expect(read).toThrow(PendingValue);
    const newer = await whenComputed(read);
    lock.release();
    db.exec("delete from _meta where key = 'changed'");
    db.close();
    now += 6000;
    expect(read).toThrow(PendingValue);
    expect(await whenComputed(read)).toEqual(newer);
  });

  it("a page waits only so long for a newer value than the last one", async () => {
    const impatient = createKeptValues({ now: () => now, threadFrom: 0, patienceMillis: 1 });
    const file = serveMirror(() => rig.file, { onReplaced: impatient.clear });
    const readAgain = () => file.read(undefined, (mirror) => impatient.slow(mirror, "tables"));
    const last = await whenComputed(readAgain);
    const db = new Database(rig.file);
    db.exec("insert into _meta values ('later', '')");
    now += 6000;
    // As if the thread got no processor.
    const posted = vi.spyOn(Worker.prototype, "postMessage").mockImplementation(() => {});
    expect(readAgain).toThrow(PendingValue);
    expect(await whenComputed(readAgain)).toBe(last);
    posted.mockRestore();
    db.exec("delete from _meta where key = 'later'");
    db.close();
    file.close();
    impatient.close();
  });

  it("an error has its class, although the thread has met it first", async () => {
    const compare = () =>
      served.read(undefined, (mirror) =>
        values.slow(mirror, "changes", {
          ...{
            from: "before-last-change",
            to: 1,
            filter: { kinds: ["nothing"] },
            isFirst: false,
            skipped: 0,
          },
        }),
      );
    await expect(whenComputed(compare)).rejects.toThrow(ChangeError);
  });
});

it("pages of a large mirror are those of a small one", async () => {
  const now = rig.clock.now();
  const options = { findCatalogue: () => rig.file, port: 0, clock: { ...rig.clock, now: () => now } };
  const [large, small] = [await startServers(options, 0), await startServers(options)];
  const [slug] = rig.read(({ db }) => db.prepare("select slug from _brand").pluck().all());
  for (const path of [
    "/",
    "/plan",
    "/plan.json",
    `/brand/${slug}`,
    "/models?gone=any",
    "/questions/model-types",
    "/tables",
    "/tables.csv",
    "/tables/brand",
    "/changes/1",
  ])
    expect((await send(large, path)).body).toBe((await send(small, path)).body);
  for (const server of [large, small]) await server.close();
});
