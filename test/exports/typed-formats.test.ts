/** Parquet and SQLite files of exports, read by other programs: DuckDB and SQLite itself. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import { fromCsvText } from "../../exports/formats/csv.ts";
import type { ExportFormat, ExportTable, Row } from "../../exports/formats/table.ts";
import { readPackageContents } from "../../exports/package/descriptor.ts";
import { readDataPackage } from "../../exports/package/read-package.ts";
import { writeDataPackage } from "../../exports/package/write-package.ts";
import type { Cell } from "../../schema/fields.ts";
import { tries } from "../support/thorough.ts";
import { startRig } from "../sync/support/rig.ts";
import { anyText, tableOf } from "./support/arbitrary-table.ts";
import { makeTestFolder } from "./support/folder-state.ts";

async function exportTables(formats: readonly ExportFormat[], ...tables: ExportTable[]): Promise<string> {
  const out = join(await makeTestFolder(), "out");
  const state = { baseUrl: "https://a.example/", run: 1, endedAt: null };
  await writeDataPackage({ out, formats, tables, state, toolVersion: "0.1.0" });
  return out;
}

async function readParquet(path: string, sql: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const rows = await connection.runAndReadAll(sql.replace("FILE", `'${path}'`));
  return rows.getRowObjectsJson();
}

const typeIn = async (folder: string, table: string, field: string) => {
  const { resources } = JSON.parse(readFileSync(join(folder, "datapackage.json"), "utf8"));
  const resource = resources.find((entry: { table: string }) => entry.table === table);
  return resource.schema.fields.find(({ name }: { name: string }) => name === field).type;
};

it("a Parquet file has typed columns: text, integers, numbers, booleans, times and JSON", async () => {
  await using rig = await startRig({ brands: 4, models: 12, sizes: 40 });
  await rig.sync();
  const out = join(rig.file, "..", "out");
  await exportMirror({ file: rig.file, out, formats: ["parquet"], tables: [], toolVersion: "0.1.0" });
  const types = (await readParquet(
    join(out, "size.parquet"),
    "select column_name as name, column_type as type from (describe select * from FILE)",
  )) as { name: string; type: string }[];
  expect(Object.fromEntries(types.map(({ name, type }) => [name, type]))).toMatchObject({
    href: "VARCHAR",
    band: "BIGINT",
    alternative_sizes: "JSON",
    first_seen_at: "TIMESTAMP WITH TIME ZONE",
  });
  const sums = "select count(*)::integer as count, sum(band)::integer as bands";
  const held = rig.read(({ db }) =>
    db.prepare("select count(*) as count, sum(band) as bands from size").get(),
  );
  expect(await readParquet(join(out, "size.parquet"), `${sums} from FILE`)).toEqual([held]);
  const flags = await readParquet(
    join(out, "model.parquet"),
    "select distinct typeof(is_discontinued) as t from FILE",
  );
  expect(flags).toEqual([{ t: "BOOLEAN" }]);
  const first = await readParquet(
    join(out, "size.parquet"),
    "select epoch_ms(first_seen_at)::varchar as time, json_keys(alternative_sizes)[1] as system from FILE limit 1",
  );
  const [row] = rig.read(({ db }) => db.prepare("select * from size order by href limit 1").all()) as [
    { first_seen_at: string; alternative_sizes: string },
  ];
  const [system] = Object.keys(JSON.parse(row.alternative_sizes));
  expect(first).toEqual([{ time: String(Date.parse(row.first_seen_at)), system }]);
});

it("an exported SQLite file has keys, references, indexes, full-text search, its coverage and nothing else", async () => {
  await using rig = await startRig({ brands: 4, models: 12, sizes: 40 });
  await rig.sync();
  const out = join(rig.file, "..", "out");
  const formats = ["sqlite"] as const;
  await exportMirror({ file: rig.file, out, formats, tables: [], toolVersion: "0.1.0" });
  const db = new Database(join(out, "tables.sqlite"), { readonly: true });
  const names = db
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like '%\\_fts\\_%' escape '\\' order by 1",
    )
    .pluck()
    .all();
  expect(names).toEqual(["brand", "brand_fts", "coverage", "model", "model_fts", "model_picture", "size"]);
  expect(db.pragma("foreign_key_check")).toEqual([]);
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(db.prepare(`select "from", "table" from pragma_foreign_key_list('size') order by 1`).all()).toEqual([
    { from: "brand_href", table: "brand" },
    { from: "model_href", table: "model" },
  ]);
  expect(db.prepare("select name from pragma_index_list('model') where origin = 'c'").pluck().all()).toEqual([
    "model_brand_href",
  ]);
  const name = db.prepare("select name from model where name is not null limit 1").pluck().get() as string;
  const search = db.prepare(
    "select m.name from model_fts f join model m on m.rowid = f.rowid where model_fts match ? limit 1",
  );
  expect(search.pluck().get(`name: "${name.replaceAll('"', "")}"`)).toBe(name);
  const [size] = db.prepare("select typeof(band), typeof(href) from size limit 1").raw().all();
  expect(size).toEqual(["integer", "text"]);
  db.close();
  for (const suffix of ["-wal", "-shm", "-journal"])
    expect(existsSync(join(out, `tables.sqlite${suffix}`))).toBe(false);
});

it("the full-text index of an exported SQLite file has the beginning of a text of millions of words", async () => {
  const words = Array.from({ length: 1_000_000 }, (_, n) => `w${n.toString(36)}`).join(" ");
  const table = tableOf("brand", ["href", "name"], [["https://a.example/1/", `first ${words}`]]);
  const db = new Database(join(await exportTables(["sqlite"], table), "tables.sqlite"), { readonly: true });
  const find = db.prepare("select count(*) from brand_fts where brand_fts match ?").pluck();
  expect([find.get("first"), find.get("w1"), find.get("wlflr")]).toEqual([1, 1, 0]);
  expect(db.prepare("select length(name) from brand").pluck().get()).toBe(words.length + 6);
  db.close();
});

it("the same tables give the same bytes in each format", async () => {
  const table = tableOf("brand", ["href", "name"], [["https://a.example/1/", "Anita"]]);
  const formats = ["parquet", "sqlite"] as const;
  const [one, two] = [await exportTables(formats, table), await exportTables(formats, table)];
  const filesOf = async (folder: string) => (await readPackageContents(folder)).files;
  expect(await filesOf(one)).toEqual(await filesOf(two));
  expect((await filesOf(one)).map(({ path, rows }) => [path, rows])).toEqual([
    ["brand.parquet", 1],
    ["tables.sqlite", 1],
  ]);
});

it("a number that a double would change stays exact: its column is text in Parquet and mixed in SQLite", async () => {
  const rows: Row[] = [
    ["https://a.example/1/", 1.5],
    ["https://a.example/2/", "0.12345678901234567890123"],
    ["https://a.example/3/", 2n ** 62n],
  ];
  const parquet = await exportTables(["parquet"], tableOf("bra", ["href", "cup_depth"], rows));
  expect(await readParquet(join(parquet, "bra.parquet"), "select cup_depth from FILE")).toEqual(
    ["1.5", "0.12345678901234567890123", "4611686018427387904"].map((cup_depth) => ({ cup_depth })),
  );
  expect(await typeIn(parquet, "bra", "cup_depth")).toBe("string");
  const sqlite = await exportTables(["sqlite"], tableOf("bra", ["href", "cup_depth"], rows));
  const db = new Database(join(sqlite, "tables.sqlite"), { readonly: true }).defaultSafeIntegers();
  expect(db.prepare("select cup_depth from bra order by href").pluck().all()).toEqual(
    rows.map(([, cell]) => cell),
  );
  db.close();
  expect(await typeIn(sqlite, "bra", "cup_depth")).toBe("any");
});

it("row groups of a Parquet file are bounded, and their dictionaries and plain values are read back", async () => {
  const rows = Array.from({ length: 20_000 }, (_, n): Row => {
    const name = n % 3 === 0 ? null : `name ${n % 5}`;
    const note = n < 500 ? "the same" : `note ${n}`;
    const goneAt = n % 4 === 0 ? new Date(n * 1_000).toISOString() : null;
    return [`${100_000 + n}`, name, note, BigInt(n % 300), n / 8, BigInt(n % 2), goneAt];
  });
  const names = ["href", "name", "note", "hooks", "cup_depth", "is_owned", "gone_at"];
  const file = join(await exportTables(["parquet"], tableOf("bra", names, rows)), "bra.parquet");
  const expected = `select (100000 + n)::varchar, if(n % 3 = 0, null, 'name ' || n % 5), if(n < 500, 'the same', 'note ' || n),
    n % 300, n / 8, n % 2 = 1, if(n % 4 = 0, to_timestamp(n), null) from range(20000) r(n)`;
  const differences = `select (select count(*) from (${expected} except all from FILE)) + count(*) as count
    from (from FILE except all ${expected})`.replaceAll("FILE", `'${file}'`);
  expect(await readParquet(file, differences)).toEqual([{ count: "0" }]);
  const groups = await readParquet(
    file,
    `select row_group_num_rows::integer as rows, stats_min_value as min, stats_max_value as max from parquet_metadata(FILE) where path_in_schema = 'href'`,
  );
  expect(groups).toEqual([
    { rows: 8_192, min: "100000", max: "108191" },
    { rows: 8_192, min: "108192", max: "116383" },
    { rows: 3_616, min: "116384", max: "119999" },
  ]);
  const encodings = await readParquet(
    file,
    "select distinct path_in_schema as name from parquet_metadata(FILE) where encodings like '%DICTIONARY%' order by 1",
  );
  expect(encodings.map((row) => (row as { name: string }).name)).toEqual(["hooks", "name"]);
  const anyBytes = createHash("shake256", { outputLength: 2_500_000 }).digest("hex");
  const long = Array.from({ length: 3 }, (_, n): Row => [String(n), `${n}${anyBytes}`]);
  const ofLong = join(await exportTables(["parquet"], tableOf("bra", ["href", "note"], long)), "bra.parquet");
  expect(await readParquet(ofLong, "select sum(length(note))::integer as length from FILE")).toEqual([
    { length: 15_000_003 },
  ]);
  expect(
    await readParquet(ofLong, "select max(row_group_id)::integer as last from parquet_metadata(FILE)"),
  ).toEqual([{ last: 1 }]);
});

const anyCell: fc.Arbitrary<Cell> = fc.oneof(
  anyText,
  fc.double({ noNaN: true }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(
    null,
    0n,
    1n,
    "{}",
    '{"a":[1,2.50]}',
    '{"n":12345678901234567890}',
    "2026-01-01T00:00:00.000Z",
  ),
);
/** From base64: decoding text would drop a byte order mark at its start. */
const textOf = ({ name }: { name: string | null }) =>
  name === null ? null : Buffer.from(name, "base64").toString();
/** Columns of each type. */
const columns = ["href", "name", "hooks", "cup_depth", "is_owned", "gone_at"];

it("every cell of any type is restored from SQLite, and its text from Parquet", async () => {
  const anyRows = fc.array(fc.tuple(...columns.slice(1).map(() => anyCell)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(anyRows, async (cells) => {
      const rows = cells.map((row, n) => [`https://a.example/${String(n).padStart(2, "0")}/`, ...row]);
      const out = await exportTables(["sqlite", "parquet"], tableOf("bra", columns, rows));
      const db = new Database(join(out, "tables.sqlite"), { readonly: true }).defaultSafeIntegers();
      const stored = db.prepare("select * from bra order by href").raw().all() as Cell[][];
      db.close();
      const restored = stored.map((row) =>
        row.map((cell) => (typeof cell === "string" ? fromCsvText(cell, "exact") : cell)),
      );
      // SQLite has one zero and stores a whole double in an integer column as an integer.
      const plain = (cell: Cell | undefined) =>
        typeof cell === "number" && Number.isInteger(cell) && Math.abs(cell) < 2 ** 63 ? BigInt(cell) : cell;
      expect(restored.map((row) => row.map(plain))).toEqual(rows.map((row) => row.map(plain)));
      const names = await readParquet(
        join(out, "bra.parquet"),
        "select to_base64(encode(name)) as name from FILE order by href",
      );
      const texts = names.map((row) => textOf(row as { name: string | null }));
      const expected = rows.map(([, name]) => name);
      for (const [n, text] of texts.entries()) {
        const cell = expected[n] ?? null;
        if (typeof cell === "string" || cell === null)
          expect(text === null ? null : fromCsvText(text, "exact")).toBe(cell);
        else expect(Number(text)).toBe(Number(cell));
      }
    }),
    { numRuns: tries(20, 1_000) },
  );
});

it("JSON has true and false, and objects as objects; reading it restores every cell", async () => {
  const cells: Row[] = [
    ["https://a.example/1/", 1n, '{"EU":"70C","n":12345678901234567890.5}'],
    ["https://a.example/2/", 0n, '{ "spaced": 1 }'],
    ["https://a.example/3/", null, null],
    ["https://a.example/4/", "yes", "no object"],
  ];
  const table = tableOf("bra", ["href", "is_owned", "note"], cells);
  const measurements = tableOf(
    "measurement",
    ["href", "n", "payload"],
    cells.map(([href, , payload], n) => [href ?? null, BigInt(n), payload ?? null]),
  );
  const out = await exportTables(["ndjson"], table, measurements);
  const lines = readFileSync(join(out, "measurement.ndjson"), "utf8").trim().split("\n");
  expect(lines[0]).toBe(
    '{"href":"https://a.example/1/","n":0,"payload":{"EU":"70C","n":12345678901234567890.5}}',
  );
  expect(JSON.parse(lines[1] ?? "").payload).toBe('{ "spaced": 1 }');
  expect(readFileSync(join(out, "bra.ndjson"), "utf8").split("\n")[0]).toContain('"is_owned":true');
  const { tables } = await readDataPackage(out);
  expect([...(tables[0]?.rows() ?? [])]).toEqual(cells);
  expect([...(tables[1]?.rows() ?? [])].map(([, , payload]) => payload)).toEqual(
    cells.map(([, , payload]) => payload),
  );
});
