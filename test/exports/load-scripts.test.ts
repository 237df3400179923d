/** The scripts beside an export load its tables with the right types and keys. pandas and R: `npm run interop`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import type { CsvProfile } from "../../exports/formats/csv.ts";
import { startRig } from "../sync/support/rig.ts";

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
        { name: "gone_at", type: "TIMESTAMP" },
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
  },
);
