/** The scripts beside an export load its tables with the right types and keys. pandas and R: `npm run interop`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import type { CsvProfile } from "../../exports/formats/csv.ts";
import type { Row } from "../../exports/formats/table.ts";
import { writeDataPackage } from "../../exports/package/write-package.ts";
import { coverageOfKind } from "../mirror/support/coverage-of-kind.ts";
import { startRig } from "../sync/support/rig.ts";
import { tableOf } from "./support/arbitrary-table.ts";
import { makeTestFolder } from "./support/folder-state.ts";

/** Runs `load.sql` of an export, and reads from the tables. */
async function loadIntoDuckDb(folder: string): Promise<(sql: string) => Promise<unknown[]>> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  await connection.run(`set file_search_path = '${folder}'`);
  await connection.run(readFileSync(join(folder, "load.sql"), "utf8"));
  return async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

it.each<CsvProfile>(["guarded", "exact", "excel"])(
  "load.sql loads every row into DuckDB with types and keys, from CSV of the profile %s",
  async (csv) => {
    await using rig = await startRig({ brands: 6, models: 20, sizes: 60 });
    await rig.sync();
    const names = ["012", "null", "=1+1", "'s", 'a "b", c', "two\nlines"];
    const db = new Database(rig.file);
    for (const [n, name] of names.entries())
      db.prepare(
        "update _brand set name = ? where id = (select id from _brand order by id limit 1 offset ?)",
      ).run(name, n);
    db.close();
    const out = join(rig.file, "..", csv);
    await exportMirror({ file: rig.file, out, formats: ["csv"], tables: [], csv, toolVersion: "0.1.0" });
    const query = await loadIntoDuckDb(out);

    const tables = ["brand", "model", "model_picture", "size"];
    for (const table of tables) {
      const held = rig.read(({ db }) => db.prepare(`select count(*) from ${table}`).pluck().get());
      expect(await query(`select count(*)::integer as count from ${table}`)).toEqual([{ count: held }]);
    }
    const loaded = await query("select name from brand order by href");
    expect(loaded.map((row) => (row as { name: string }).name).sort()).toEqual([...names].sort());
    const types = await query(
      "select column_name as name, data_type as type from duckdb_columns() where table_name = 'size'",
    );
    expect(types).toEqual(
      expect.arrayContaining([
        { name: "href", type: "VARCHAR" },
        { name: "band", type: "BIGINT" },
        { name: "alternative_sizes", type: "JSON" },
        { name: "gone_at", type: "TIMESTAMP WITH TIME ZONE" },
      ]),
    );
    const keys = await query(
      "select table_name as name, constraint_type as type from duckdb_constraints() where constraint_type in ('PRIMARY KEY', 'FOREIGN KEY') order by 1, 2",
    );
    expect(keys).toEqual(
      expect.arrayContaining([
        { name: "model", type: "FOREIGN KEY" },
        { name: "size", type: "PRIMARY KEY" },
      ]),
    );
    const sums = `select sum(band)::integer as bands, count(first_seen_at)::integer as seen from size`;
    const inMirror = rig.read(({ db }) =>
      db.prepare("select sum(band) as bands, count(first_seen_at) as seen from size").get(),
    );
    expect(await query(sums)).toEqual([inMirror]);
    // The same instants, whatever the zone of the session.
    await query("set TimeZone = 'America/New_York'");
    const instant = rig.read(({ db }) =>
      db.prepare("select unixepoch(min(first_seen_at)) as seen from size").get(),
    );
    expect(await query("select floor(epoch(min(first_seen_at)))::integer as seen from size")).toEqual([
      instant,
    ]);
  },
);

it("load.sql loads Parquet files with types and keys, if there is no CSV", async () => {
  await using rig = await startRig({ brands: 2, models: 4, sizes: 8 });
  await rig.sync();
  const out = join(rig.file, "..", "parquet");
  await exportMirror({ file: rig.file, out, formats: ["parquet"], tables: [], toolVersion: "0.1.0" });
  const query = await loadIntoDuckDb(out);
  const held = rig.read(({ db }) => db.prepare("select count(*) from size").pluck().get());
  expect(
    await query("select count(*)::integer as count from size s join model m on m.href = s.model_href"),
  ).toEqual([{ count: held }]);
  expect(
    await query(
      "select data_type as type from duckdb_columns() where table_name = 'size' and column_name in ('band', 'first_seen_at') order by 1",
    ),
  ).toEqual([{ type: "BIGINT" }, { type: "TIMESTAMP WITH TIME ZONE" }]);
  expect(
    await query(
      "select constraint_type as type from duckdb_constraints() where table_name = 'size' and constraint_type like '% KEY' order by 1",
    ),
  ).toEqual([{ type: "FOREIGN KEY" }, { type: "FOREIGN KEY" }, { type: "PRIMARY KEY" }]);
});

it("load.sql fails and loads nothing if a file has lost a row, and says last what is missing from the mirror", async () => {
  const out = join(await makeTestFolder(), "out");
  const state = { baseUrl: "https://a.example/", run: 1, endedAt: null };
  const names = [["one"], ["two"], [null], ["four"]];
  const tables = [tableOf("model", ["name"], names), tableOf("brand", ["name"], names)];
  const kinds = [coverageOfKind("brand", { known: 40, held: 27, due: 13 })];
  const coverage = { complete: false, kinds };
  await writeDataPackage({ out, formats: ["csv"], tables, state, coverage, toolVersion: "0.1.0" });
  const query = await loadIntoDuckDb(out);
  expect(await query("select count(*)::integer as count from brand")).toEqual([{ count: 4 }]);
  const missing = "Not complete: 27 of 40 brands held.";
  expect(readFileSync(join(out, "load.sql"), "utf8").trimEnd().split("\n").at(-1)).toBe(
    `select '${missing}' as coverage;`,
  );
  for (const script of ["load.py", "load.R"])
    expect(readFileSync(join(out, script), "utf8")).toContain(`("${missing}")`);

  writeFileSync(join(out, "brand.csv"), "name\none\ntwo\n\n");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(`set file_search_path = '${out}'`);
  await expect(connection.run(readFileSync(join(out, "load.sql"), "utf8"))).rejects.toThrow(
    "brand.csv: 3 rows were read instead of 4.",
  );
  await connection.run("rollback");
  const left = await connection.runAndReadAll("select table_name from duckdb_tables()");
  expect(left.getRowObjectsJson()).toEqual([]);
});

describe("columns with cells of another type", () => {
  const long = "-0.12345678901234567890123";
  const cells: readonly Row[] = [
    // cup_depth, hooks, is_owned, gone_at
    [-1.5, -3n, 1n, "2026-01-01T00:00:00.000Z"],
    [long, "-123456789012345678901", "-yes", "-yesterday"],
    [Number.NEGATIVE_INFINITY, 2n ** 62n, null, null],
  ];
  const rows = cells.map((row, n) => [`https://a.example/${n}/`, ...row]);
  const bras = tableOf("bra", ["href", "cup_depth", "hooks", "is_owned", "gone_at"], rows);
  const payloads = ["{}", "-5", '"\\ud800"'].map((payload, n) => [`https://a.example/m/${n}/`, 0n, payload]);
  const measurements = tableOf("measurement", ["href", "n", "payload"], payloads);
  const exportAs = async (csv: CsvProfile, tables: Parameters<typeof writeDataPackage>[0]["tables"]) => {
    const out = join(await makeTestFolder(), "out");
    const state = { baseUrl: "https://a.example/", run: 1, endedAt: null };
    await writeDataPackage({ out, formats: ["csv"], tables, state, csv, toolVersion: "0.1.0" });
    return out;
  };
  const typesIn = (folder: string): Record<string, string> => {
    const { resources } = JSON.parse(readFileSync(join(folder, "datapackage.json"), "utf8"));
    return Object.fromEntries(
      resources.flatMap(({ schema }: { schema: { fields: { name: string; type: string }[] } }) =>
        schema.fields.map(({ name, type }) => [name, type]),
      ),
    );
  };

  it.each<CsvProfile>(["guarded", "exact", "excel"])(
    "such a column is text for the descriptor and all scripts, and DuckDB loads every cell, from the profile %s",
    async (csv) => {
      const out = await exportAs(csv, [bras, measurements]);
      const query = await loadIntoDuckDb(out);
      expect(await query("select cup_depth, hooks, is_owned, gone_at from bra order by href")).toEqual([
        { cup_depth: "-1.5", hooks: "-3", is_owned: "1", gone_at: "2026-01-01T00:00:00.000Z" },
        { cup_depth: long, hooks: "-123456789012345678901", is_owned: "-yes", gone_at: "-yesterday" },
        { cup_depth: "-1e999", hooks: "4611686018427387904", is_owned: null, gone_at: null },
      ]);
      const mixed = { cup_depth: "string", hooks: "string", is_owned: "string", gone_at: "string" };
      expect(typesIn(out)).toMatchObject({ ...mixed, payload: "string" });
      const { resources } = JSON.parse(readFileSync(join(out, "datapackage.json"), "utf8"));
      expect(resources[0].schema.fields[3]).not.toHaveProperty("trueValues");
      expect(await query("select payload from measurement order by href limit 2")).toEqual([
        { payload: "{}" },
        { payload: "-5" },
      ]);
      for (const script of ["load.py", "load.R"])
        expect(readFileSync(join(out, script), "utf8")).toMatch(/["`]cup_depth["`](:| =) "text"/);
    },
  );

  it("a column of negative numbers is a column of numbers", async () => {
    const numbers = [-1.5, Number.NEGATIVE_INFINITY, null].map((cell, n) => [
      `https://a.example/${n}/`,
      cell,
    ]);
    const out = await exportAs("guarded", [tableOf("bra", ["href", "cup_depth"], numbers)]);
    expect(typesIn(out)).toMatchObject({ cup_depth: "number" });
    const query = await loadIntoDuckDb(out);
    expect(await query("select cup_depth from bra order by href")).toEqual([
      { cup_depth: -1.5 },
      { cup_depth: "-Infinity" },
      { cup_depth: null },
    ]);
  });

  it("types are found again when the same tables are written in several formats", async () => {
    const out = join(await makeTestFolder(), "out");
    const state = { baseUrl: "https://a.example/", run: 1, endedAt: null };
    const formats = ["csv", "parquet"] as const;
    const { files } = await writeDataPackage({ out, formats, tables: [bras], state, toolVersion: "0.1.0" });
    const mixedColumns = ["cup_depth", "hooks", "is_owned", "gone_at"];
    expect(files).toMatchObject([{ mixedColumns }, { mixedColumns }]);
  });
});
