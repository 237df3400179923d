/** Text that UTF-8, or many programs, cannot hold: the same in every format, readable by other programs, and read back exactly. */
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, it } from "vitest";
import { csvChunks, csvProfiles, readCsvRows, toCsvText } from "../../exports/formats/csv.ts";
import { escapeText, maxSliceLength } from "../../exports/formats/escaped-text.ts";
import { jsonChunks, ndjsonChunks, quotePlain, readJsonRows } from "../../exports/formats/json.ts";
import type { ExportFormat, ExportTable } from "../../exports/formats/table.ts";
import { readDataPackage } from "../../exports/package/read-package.ts";
import { verifyDataPackage } from "../../exports/package/verify/verify-package.ts";
import { writeDataPackage } from "../../exports/package/write-package.ts";
import { anyText, tableOf } from "./support/arbitrary-table.ts";
import { makeTestFolder } from "./support/folder-state.ts";

/** By text: what every format has. */
const written = {
  "half \ud800": "half \\ud800",
  "\udc00\ud800": "\\udc00\\ud800",
  "a\0b": "a\\u0000b",
  "\\ud800 as text": "\\\\ud800 as text",
  "C:\\ and 😀": "C:\\ and 😀",
};
const texts = Object.keys(written);
const payloads = texts.map((text) => JSON.stringify({ [text]: text }));
const bodies = ['{"name":"\\ud83d\\ude00"}', '{"name":"\\ud800 \\u0000"}', '{ "a": "\\\\ud800" }'];

const tableWith = (name: string, column: string, cells: readonly string[]) =>
  tableOf(
    name,
    ["href", column],
    cells.map((cell, n) => [`https://a.example/${n}/`, cell]),
  );
const bras = tableWith("bra", "note", texts);
const measurements = tableWith("measurement", "payload", payloads);
const envelopes = tableWith("envelope", "body", bodies);

async function exportAs(format: ExportFormat, ...tables: ExportTable[]): Promise<string> {
  const out = join(await makeTestFolder(), "out");
  const state = { baseUrl: "https://a.example/", run: 1, endedAt: null };
  await writeDataPackage({ out, formats: [format], tables, state, csv: "exact", toolVersion: "0.1.0" });
  return out;
}

/** What SQLite or DuckDB reads from a file of an export: a column, as text. */
async function columnIn(folder: string, format: ExportFormat, table: string, column: string) {
  if (format === "sqlite") {
    const db = new Database(join(folder, "tables.sqlite"), { readonly: true });
    const cells = db.prepare(`select ${column} from ${table} order by href`).pluck().all();
    db.close();
    return cells;
  }
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const file = `'${join(folder, `${table}.${format}`)}'`;
  const type = column === "payload" ? "json" : "varchar";
  const source = {
    csv: `read_csv(${file}, all_varchar = true)`,
    parquet: file,
    json: `read_json(${file}, columns = {href: 'varchar', ${column}: '${type}'})`,
  }[format === "ndjson" ? "json" : format];
  const rows = await connection.runAndReadAll(
    `select ${column}::varchar as cell from ${source} order by href`,
  );
  return rows.getRowObjectsJson().map(({ cell }) => cell);
}

const formats = ["csv", "json", "ndjson", "parquet", "sqlite"] as const;

it.each(formats)("NUL and lone surrogates are the same text for readers of %s", async (format) => {
  const folder = await exportAs(format, bras, measurements);
  expect(await columnIn(folder, format, "bra", "note")).toEqual(Object.values(written));
  const objects = await columnIn(folder, format, "measurement", "payload");
  const expected = Object.values(written).map((text) => [text, text]);
  expect(objects.map((text) => Object.entries(JSON.parse(String(text)))[0])).toEqual(expected);
});

it.each(["csv", "json", "ndjson"] as const)("%s is verified and read back exactly", async (format) => {
  const folder = await exportAs(format, bras, measurements, envelopes);
  expect((await verifyDataPackage(folder)).problems).toEqual([]);
  const { tables, close } = await readDataPackage(folder);
  for (const [name, cells] of Object.entries({ bra: texts, measurement: payloads, envelope: bodies })) {
    const rows = tables.find((table) => table.name === name)?.rows() ?? [];
    expect([...rows].map((row) => row[1])).toEqual(cells);
  }
  close();
});

it.each(formats)("a body in %s is byte for byte as sent", async (format) => {
  const folder = await exportAs(format, envelopes);
  expect(await columnIn(folder, format, "envelope", "body")).toEqual(bodies);
});

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

it("a long text is written in slices as a short one is, wherever they begin, and read back", () => {
  const parts = fc.constantFrom("\\", "u", "0000", "d800", "u0000", "ud800", "\ud83d", "\ude00", '"', "\n");
  const around = fc.array(fc.oneof(parts, anyText), { maxLength: 8 }).map((some) => some.join(""));
  fc.assert(
    fc.property(around, fc.nat(30), fc.constantFrom(...csvProfiles), (special, back, profile) => {
      const text = `${"x".repeat(maxSliceLength - back)}${special}${"y".repeat(50)}`;
      const table = tableOf("bra", ["note"], [[text]]);
      const escaped = JSON.stringify(escapeText(text));
      // A message with both would take minutes.
      expect([...ndjsonChunks(table)].join("") === `{"note":${escaped}}\n`).toBe(true);
      expect([...jsonChunks(table)].join("") === `[\n{"note":${escaped}}\n]\n`).toBe(true);
      const plain = [...ndjsonChunks(table, { quote: quotePlain })].join("");
      expect(plain === `{"note":${quotePlain(text)}}\n`).toBe(true);
      const csv = [...csvChunks(table, profile)].join("");
      const cell = toCsvText(text, profile);
      const end = profile === "excel" ? "\r\n" : "\n";
      expect(csv.endsWith(`note${end}${/[",\r\n]/.test(cell) ? quoted(cell) : cell}${end}`)).toBe(true);
      const [[ofJson] = []] = [...readJsonRows([`{"note":${escaped}}`], ["note"])];
      expect(ofJson === text).toBe(true);
      const [[ofCsv] = []] = [...readCsvRows(csv.split("\n").slice(0, -1), profile)];
      expect(ofCsv === text).toBe(true);
    }),
    { numRuns: 300 },
  );
});
