/** A package explains itself: what each column means, in which form it is, how fresh it is, and how to load and cite it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeColumn, meaningOf } from "../../schema/dictionary/columns.ts";
import { storedTypes } from "../../schema/dictionary/table-meaning.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 3, models: 6, sizes: 12 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

const placeOf = (name: string) => join(dirname(rig.file), name);
const textOf = (...parts: readonly string[]) => readFileSync(placeOf(join(...parts)), "utf8");

/** @returns the descriptor of the export */
async function exportTo(name: string, ...args: readonly string[]) {
  const words = ["export", "--mirror", rig.file, "--out", placeOf(name), ...args];
  expect(await callArmoire(words)).toMatchObject({ exitCode: 0, stderr: "" });
  return JSON.parse(textOf(name, "datapackage.json"));
}

interface Field {
  readonly name: string;
  readonly description?: string;
  readonly constraints?: object;
}

interface Resource {
  readonly table: string;
  readonly description: string;
  readonly dialect?: Readonly<Record<string, unknown>>;
  readonly schema: { readonly fields: readonly Field[] };
}

it("each table and column of the descriptor has the meaning of the dictionary, and a key is required", async () => {
  const { resources } = await exportTo("meanings", "--format", "csv,sqlite", "--with-envelopes");
  expect(resources).toHaveLength(10);
  for (const { table, description, schema } of resources as readonly Resource[]) {
    expect(description).toBe(meaningOf(table)?.about);
    for (const { name, description: about = "", constraints } of schema.fields) {
      expect({ table, name, about }).toEqual({ table, name, about: describeColumn(table, name)?.about });
      const isKey = meaningOf(table)?.key?.includes(name) ?? false;
      expect({ table, name, constraints }).toEqual({
        ...{ table, name, constraints: isKey ? { required: true } : undefined },
      });
    }
  }
  const said = (resources as readonly Resource[]).flatMap(({ schema }) => schema.fields);
  expect(said.find(({ name }) => name === "gone_at")?.description).toMatch(
    /^when the run began that found it to be gone/,
  );
});

it("the descriptor states the dialect of CSV, the table of an SQLite file, and freshness by kind", async () => {
  const dialect = {
    $schema: "https://datapackage.org/profiles/2.0/tabledialect.json",
    ...{ delimiter: ",", lineTerminator: "\n", quoteChar: '"', doubleQuote: true, header: true },
  };
  const { resources, armoire } = await exportTo("dialect", "--format", "csv,sqlite", "--table", "brand");
  expect(resources.map((resource: Resource) => resource.dialect)).toEqual([
    dialect,
    { $schema: dialect.$schema, table: "brand" },
  ]);
  const [checked] = armoire.coverage.kinds.slice(-1);
  expect(checked).toMatchObject({ kind: "brand", held: 3 });
  for (const time of [checked.oldestCheckAt, checked.newestCheckAt])
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

it("--excel and --exact change the bytes of CSV, and the package says which it is", async () => {
  const excel = await exportTo("excel", "--format", "csv", "--table", "brand", "--excel");
  expect(excel.armoire.csv).toBe("excel");
  expect(excel.resources[0].dialect.lineTerminator).toBe("\r\n");
  expect(textOf("excel", "brand.csv")).toMatch(/^\ufeffhref,service_url,.*\r\n/);
  const exact = await exportTo("exact", "--format", "csv", "--table", "brand", "--exact");
  expect(exact.armoire.csv).toBe("exact");
  expect(textOf("exact", "README.md")).toContain("also text that a spreadsheet runs as a formula");
  const both = await callArmoire([
    "export",
    "--mirror",
    rig.file,
    "--out",
    placeOf("x"),
    "--excel",
    "--exact",
  ]);
  expect(both).toMatchObject({ exitCode: 2, stdout: "" });
});

it("--with-envelopes adds the last response for each resource", async () => {
  const { resources } = await exportTo("envelopes", "--format", "ndjson", "--with-envelopes");
  expect(resources.map(({ table }: Resource) => table)).toContain("envelope");
  const rows = textOf("envelopes", "envelope.ndjson").trimEnd().split("\n");
  const held = rig.read(({ db }) =>
    db.prepare("select count(*) from _resource where state = 'held'").pluck().get(),
  );
  expect(rows).toHaveLength(Number(held));
  expect(JSON.parse(rows[0] ?? "")).toMatchObject({ href: rig.sandbox.url, kind: "root", status: 200 });
});

it("the README says what it is, how whole it is, how to load it, what the types are, and how to cite it", async () => {
  await exportTo(
    "readme",
    "--format",
    "csv,json,parquet,sqlite",
    "--license",
    "ODbL-1.0",
    "--citation",
    "Ada (2026)",
  );
  const readme = textOf("readme", "README.md");
  const { host } = new URL(rig.sandbox.url);
  for (const text of [
    `# Mirror of ${host}\n`,
    /^The data of http.*, as of run 1, which ended .* UTC\. Made by Armoire \d/m,
    /^Complete: everything known that belongs in this export is held; checked /m,
    "| `brand.csv` | 3 | A brand of the catalogue. |\n",
    "| `tables.sqlite`, `size` | 12 | A size of a model. |\n",
    "Without rows, and so without a file: `relation`.\n",
    "duckdb bras.duckdb < load.sql",
    'from load import load`, then `load("brand")',
    'source("load.R")',
    "| boolean | 1 is true, 0 is false | true, false | boolean |\n",
    "has one apostrophe more at its start",
    "## Licence\n\nODbL-1.0\n",
    "## Cite as\n\nAda (2026)\n",
  ])
    expect(readme).toEqual(
      typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
    );
  await exportTo("plain", "--format", "json");
  const plain = textOf("plain", "README.md");
  expect(plain).toContain(`None is stated. Check the terms of ${host} before you share the data.`);
  expect(plain).toMatch(
    /## Cite as\n\nData of http.*, as of run 1, which ended .* UTC\. Exported with Armoire \d/,
  );
  expect(plain).not.toContain("## CSV");
});

it("`armoire tables` explains the types that a table has, in the words of docs/schema.md", async () => {
  const { stdout } = await callArmoire(["tables", "model"]);
  const page = readFileSync(new URL("../../docs/schema.md", import.meta.url), "utf8");
  for (const type of ["time", "boolean", "any"] as const) {
    expect(stdout).toContain(`\n${type}: ${storedTypes[type]}\n`);
    expect(page).toContain(`| ${type} | ${storedTypes[type]} |`);
  }
  expect(stdout).not.toContain(`object: ${storedTypes.object}`);
});
