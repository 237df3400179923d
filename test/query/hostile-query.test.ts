import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { readShownViews } from "../../src/mirror/past/as-of.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../src/mirror/writer.ts";
import { executeQuery } from "../../src/query/sql/execute-query.ts";
import { defaultLimits } from "../../src/query/sql/limits.ts";
import type { QueryParameters, QueryResponse, StartQuery } from "../../src/query/sql/query-process.ts";
import { runQuery } from "../../src/query/sql/run-query.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { startRig } from "../sync/support/rig.ts";
import { collectRows } from "./support/collect-rows.ts";
import { hostileStatements } from "./support/hostile-statements.ts";
import { hashesOf, makeMirrorLikeFile } from "./support/mirror-like-file.ts";

let folder = "";
let file = "";
/** A real mirror, for queries as of a run. */
let mirror = "";
let shownViews: StartQuery["shownViews"] = [];
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
  shownViews = readMirror(mirror, ({ db }) => readShownViews(db), { kind: "run", run: 1 });
  // The first reader of a WAL file creates an empty -wal and a -shm file.
  execute("SELECT 1");
  executeAsOf("SELECT 1");
  before = await hashesOf(folder);
  return () => temporary[Symbol.asyncDispose]();
});

const inFolder = (sql: string): string => sql.replaceAll("FOLDER", folder);

/** The responses of a query's process. No statement here is endless. */
function execute(sql: string, more: Partial<StartQuery> = {}): QueryResponse[] {
  const options = { parameters: [], maxRows: 1000, limits: defaultLimits } as const;
  return [
    ...executeQuery({ type: "start", file, catalogue: null, shownViews: [], sql, ...options, ...more }),
  ];
}

/** With a catalogue attached, as for a query on an account. */
const executeWithCatalogue = (sql: string) => execute(sql, { catalogue: mirror });

const executeAsOf = (sql: string) => execute(sql, { file: mirror, shownViews });

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
  // At least one row, so that expressions in a statement are evaluated.
  writer.db.exec("insert into _brand (id, from_run) select id, first_run from _resource");
  writer.db.exec("update _run set ended_at = started_at");
  writer.close();
}

describe("statements with parameters", () => {
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
  ])(
    "a hostile statement with parameters fails, and changes and reads no other file: %j",
    async (sql, parameters) => {
      const values = JSON.parse(inFolder(JSON.stringify(parameters)));
      const responses = execute(inFolder(sql), { parameters: values });
      expect(responses.at(-1)?.type).toBe("error");
      expect(JSON.stringify(responses)).not.toContain("canary");
      expect(await hashesOf(folder)).toEqual(before);
    },
  );
});

describe("synced mirror", () => {
  it("a hostile statement on a synced mirror changes nothing in its folder, on views or on tables", async () => {
    await using rig = await startRig({ brands: 3, models: 6, sizes: 12 });
    await rig.sync();
    const own = dirname(rig.file);
    const statements = hostileStatements.flatMap((sql) => [sql, sql.replace(/\bbrand\b/g, "_brand")]);
    execute("SELECT 1", { file: rig.file });
    const held = await hashesOf(own);
    expect(Object.keys(held)).toContain(basename(rig.file));
    for (const sql of statements) execute(sql.replaceAll("FOLDER", own), { file: rig.file });
    expect(await hashesOf(own)).toEqual(held);
  });
});

describe("statements", () => {
  it("the list of hostile statements has at least 150", () => {
    expect(new Set(hostileStatements).size).toBeGreaterThanOrEqual(150);
  });

  // These only report, explain, or change settings of the connection.
  const maySucceed = /^(SELECT \* FROM pragma|PRAGMA|EXPLAIN ATTACH|SELECT fts|SELECT 1\0)/;

  it.each(hostileStatements)(
    "a hostile statement changes, creates and reads no other file: %j",
    async (sql) => {
      const responses = execute(inFolder(sql));
      expect(await hashesOf(folder)).toEqual(before);
      expect(JSON.stringify(responses)).not.toContain("canary");
      if (!maySucceed.test(sql)) expect(responses.at(-1)?.type).toBe("error");
    },
  );

  it.each(hostileStatements.flatMap((sql) => [sql, sql.replace(/\bbrand\b/g, "catalogue._brand")]))(
    "a hostile statement with a catalogue attached changes and reads no other file: %j",
    async (sql) => {
      const responses = executeWithCatalogue(inFolder(sql));
      expect(await hashesOf(folder)).toEqual(before);
      expect(JSON.stringify(responses)).not.toContain("canary");
      if (!maySucceed.test(sql)) expect(responses.at(-1)?.type).toBe("error");
    },
  );

  it.each(hostileStatements)(
    "a hostile statement as of a run changes and reads no other file: %j",
    async (sql) => {
      const responses = executeAsOf(inFolder(sql));
      expect(await hashesOf(folder)).toEqual(before);
      expect(JSON.stringify(responses)).not.toContain("canary");
      if (!maySucceed.test(sql)) expect(responses.at(-1)?.type).toBe("error");
    },
  );

  it.each([
    ["DELETE FROM brand RETURNING *", "not-read-only"],
    ["ATTACH 'FOLDER/other.sqlite' AS other", "not-read-only"],
    ["VACUUM INTO 'FOLDER/copy.sqlite'", "not-read-only"],
    ["PRAGMA user_version = 99", "not-read-only"],
    ["CREATE TEMP TABLE t (x)", "not-read-only"],
    ["SELECT load_extension('FOLDER/evil.so')", "failed"],
    ["SELECT 1; DELETE FROM brand", "syntax"],
    ["DELETE FROM", "syntax"],
  ])("a hostile statement is refused by runQuery too: %j is %s", async (sql, code) => {
    const run = async () => await collectRows((await runQuery({ file, sql: inFolder(sql) })).rows);
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "QueryError", code, message: expect.stringMatching(/^[^\n]+$/) });
    expect(await hashesOf(folder)).toEqual(before);
  });
});
