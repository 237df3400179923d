import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { readShownViews } from "../../src/mirror/past/as-of.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../src/mirror/writer.ts";
import { answerQuery } from "../../src/query/sql/answer-query.ts";
import type { QueryAnswer, QueryParameters, StartQuery } from "../../src/query/sql/query-process.ts";
import { runQuery } from "../../src/query/sql/run-query.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { startRig } from "../sync/support/rig.ts";
import { collectRows } from "./support/collect-rows.ts";
import { hostileStatements } from "./support/hostile-statements.ts";
import { hashesOf, makeMirrorLikeFile } from "./support/mirror-like-file.ts";

let folder = "";
let file = "";
/** A real one, whose past is asked for. */
let mirror = "";
let before: Record<string, string> = {};

beforeAll(async () => {
  const temporary = await temporaryFolder();
  folder = temporary.path;
  file = makeMirrorLikeFile(folder);
  new Database(join(folder, "other.sqlite"))
    .exec("CREATE TABLE secret (word); INSERT INTO secret VALUES ('canary')")
    .close();
  await writeFile(join(folder, "secret.txt"), "canary");
  mirror = join(folder, "catalogue.sqlite");
  await makeMirrorWithRun();
  // A reader of a WAL file leaves SQLite's own empty -wal and a -shm beside it: let the first one make them.
  askAll("SELECT 1");
  askPast("SELECT 1");
  before = await hashesOf(folder);
  return () => temporary[Symbol.asyncDispose]();
});

const inFolder = (sql: string): string => sql.replaceAll("FOLDER", folder);

/** What the query's process would answer; endless statements are not among these. */
function askAll(sql: string, more: Partial<StartQuery> = {}): QueryAnswer[] {
  const limits = { parameters: [], maxRows: 1000, timeoutMillis: 1000 } as const;
  return [...answerQuery({ type: "start", file, catalogue: null, shownViews: [], sql, ...limits, ...more })];
}

/** With another mirror beside it, as a query of an account has. */
const askBeside = (sql: string) => askAll(sql, { catalogue: mirror });

function askPast(sql: string): QueryAnswer[] {
  const reader = openMirrorReader(mirror, { kind: "run", run: 1 });
  const shownViews = readShownViews(reader.db);
  reader.close();
  return askAll(sql, { file: mirror, shownViews });
}

async function makeMirrorWithRun(): Promise<void> {
  const identity = {
    baseUrl: "https://catalogue.example/",
    area: "catalogue",
    serviceName: "service",
  } as const;
  const writer = await openMirrorWriter({
    file: mirror,
    identity,
    kinds,
    openedAt: "2026-01-15T12:00:00.000Z",
  });
  const runId = writer.beginRun({ startedAt: "2026-01-15T12:00:00.000Z", mode: "incremental", scope: {} });
  writer.addRoot(runId);
  // Any row, so that what a statement does with each row is done.
  writer.db.exec("insert into _brand (id, from_run) select id, first_run from _resource");
  writer.db.exec("update _run set ended_at = started_at");
  writer.close();
}

describe("a hostile statement with parameters", () => {
  const path = "FOLDER/other.sqlite";
  it.each<[string, QueryParameters]>([
    ["ATTACH :path AS other", { path }],
    ["ATTACH ? AS other", [path]],
    ["VACUUM INTO :path", { path: "FOLDER/copy.sqlite" }],
    ["SELECT load_extension(:path)", { path: "FOLDER/evil.so" }],
    ["SELECT readfile(:path)", { path: "FOLDER/secret.txt" }],
    ["DELETE FROM brand WHERE href = :href RETURNING *", { href: "a" }],
    ["WITH n(x) AS (VALUES (:href)) UPDATE brand SET name = (SELECT x FROM n) RETURNING *", { href: "a" }],
    ["INSERT INTO search(search) VALUES (:command) RETURNING *", { command: "delete-all" }],
    ["SELECT :sql; DELETE FROM brand", { sql: "x" }],
    ["SELECT 1 WHERE :sql", { "sql; DELETE FROM brand": "x" }],
  ])("does no more than one without: %j", async (sql, parameters) => {
    const values = JSON.parse(inFolder(JSON.stringify(parameters)));
    const answers = askAll(inFolder(sql), { parameters: values });
    expect(answers.at(-1)?.type).toBe("error");
    expect(JSON.stringify(answers)).not.toContain("canary");
    expect(await hashesOf(folder)).toEqual(before);
  });
});

describe("a hostile statement on a mirror", () => {
  it("changes nothing in its folder, whether it goes for the views or for the tables below", async () => {
    await using rig = await startRig({ brands: 3, models: 6, sizes: 12 });
    await rig.sync();
    const own = dirname(rig.file);
    const statements = hostileStatements.flatMap((sql) => [sql, sql.replace(/\bbrand\b/g, "_brand")]);
    askAll("SELECT 1", { file: rig.file });
    const held = await hashesOf(own);
    expect(Object.keys(held)).toContain(basename(rig.file));
    for (const sql of statements) askAll(sql.replaceAll("FOLDER", own), { file: rig.file });
    expect(await hashesOf(own)).toEqual(held);
  });
});

describe("a hostile statement", () => {
  it("is one of a hundred and fifty or more", () => {
    expect(new Set(hostileStatements).size).toBeGreaterThanOrEqual(150);
  });

  // These only report, explain, or set what dies with the connection.
  const mayEndWell = /^(SELECT \* FROM pragma|PRAGMA|EXPLAIN ATTACH|SELECT fts|SELECT 1\0)/;

  it.each(hostileStatements)("changes no file, makes none, and reads no other: %j", async (sql) => {
    const answers = askAll(inFolder(sql));
    expect(await hashesOf(folder)).toEqual(before);
    expect(JSON.stringify(answers)).not.toContain("canary");
  });

  it.each(hostileStatements.filter((sql) => !mayEndWell.test(sql)))("ends in an error: %j", (sql) => {
    expect(askAll(inFolder(sql)).at(-1)?.type).toBe("error");
  });

  it.each(hostileStatements.flatMap((sql) => [sql, sql.replace(/\bbrand\b/g, "catalogue._brand")]))(
    "beside a catalogue does no more, to either: %j",
    async (sql) => {
      const answers = askBeside(inFolder(sql));
      expect(await hashesOf(folder)).toEqual(before);
      expect(JSON.stringify(answers)).not.toContain("canary");
      if (!mayEndWell.test(sql)) expect(answers.at(-1)?.type).toBe("error");
    },
  );

  it.each(hostileStatements)("as of a run does no more: %j", async (sql) => {
    const answers = askPast(inFolder(sql));
    expect(await hashesOf(folder)).toEqual(before);
    expect(JSON.stringify(answers)).not.toContain("canary");
    if (!mayEndWell.test(sql)) expect(answers.at(-1)?.type).toBe("error");
  });

  it.each([
    ["DELETE FROM brand RETURNING *", "not-read-only"],
    ["ATTACH 'FOLDER/other.sqlite' AS other", "not-read-only"],
    ["VACUUM INTO 'FOLDER/copy.sqlite'", "not-read-only"],
    ["PRAGMA user_version = 99", "not-read-only"],
    ["CREATE TEMP TABLE t (x)", "not-read-only"],
    ["SELECT load_extension('FOLDER/evil.so')", "failed"],
    ["SELECT 1; DELETE FROM brand", "syntax"],
    ["DELETE FROM", "syntax"],
  ])("is refused by runQuery as well: %j is %s", async (sql, code) => {
    const run = async () => await collectRows((await runQuery({ file, sql: inFolder(sql) })).rows);
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "QueryError", code, message: expect.stringMatching(/^[^\n]+$/) });
    expect(await hashesOf(folder)).toEqual(before);
  });
});
