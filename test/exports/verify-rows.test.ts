/** `export verify` reads the tables: files whose bytes are as the descriptor states, but whose rows are not. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvProfiles } from "../../exports/formats/csv.ts";
import { exportFormats } from "../../exports/formats/table.ts";
import { blankSeal } from "../../exports/package/seal.ts";
import { descriptorText } from "../../exports/package/to-descriptor.ts";
import { verifyDataPackage } from "../../exports/package/verify/verify-package.ts";
import { type DataPackageRequest, writeDataPackage } from "../../exports/package/write-package.ts";
import { expectUnreadable } from "../support/canary.ts";
import { anyTable, tableOf } from "./support/arbitrary-table.ts";
import { makeTestFolder } from "./support/folder-state.ts";

const brands = tableOf(
  "brand",
  ["href", "name", "bra_count"],
  [
    ["https://a.example/1/", 'two\nlines, "quoted"', 5n],
    ["https://a.example/2/", null, null],
    ["https://a.example/3/", "=1+1", -7n],
  ],
);
const models = tableOf(
  "model",
  ["href", "brand_href"],
  [
    ["https://a.example/m/1/", "https://a.example/1/"],
    ["https://a.example/m/2/", "https://a.example/3/"],
    ["https://a.example/m/3/", null],
  ],
);

async function write(more: Partial<DataPackageRequest>): Promise<string> {
  const out = join(await makeTestFolder(), "out");
  await writeDataPackage({
    ...{ out, formats: ["csv"], tables: [brands, models] },
    references: [{ table: "model", column: "brand_href", to: "brand" }],
    state: { baseUrl: "https://a.example/", run: 1, endedAt: null },
    ...{ toolVersion: "0.1.0", ...more },
  });
  return out;
}

/** Changes a file and what the descriptor says of its bytes. */
function forge(folder: string, path: string, change: (bytes: Buffer) => Buffer | string): void {
  const bytes = Buffer.from(change(readFileSync(join(folder, path))));
  writeFileSync(join(folder, path), bytes);
  const descriptorPath = join(folder, "datapackage.json");
  const descriptor = JSON.parse(readFileSync(descriptorPath, "utf8"));
  const hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  for (const resource of descriptor.resources)
    if (resource.path === path) Object.assign(resource, { bytes: bytes.length, hash });
  descriptor.armoire.descriptorHash = blankSeal;
  writeFileSync(descriptorPath, descriptorText(descriptor));
}

const problemsIn = async (folder: string) => (await verifyDataPackage(folder)).problems;
const replacing = (from: string, to: string) => (bytes: Buffer) => {
  expect(bytes.toString()).toContain(from);
  return bytes.toString().replace(from, to);
};

describe("sound packages", () => {
  it.each(csvProfiles)(
    "a package of all formats has no problems, with CSV of the profile %s",
    async (csv) => {
      expect(await problemsIn(await write({ formats: exportFormats, csv }))).toEqual([]);
    },
  );

  it("whatever the cells and the names of columns, a package that was just written has no problems", async () => {
    const formats = ["csv", "json", "ndjson", "parquet"] as const;
    await fc.assert(
      fc.asyncProperty(anyTable, fc.constantFrom(...csvProfiles), async (table, csv) => {
        expect(await problemsIn(await write({ formats, tables: [table], csv, references: [] }))).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it("empty tables have no problems", async () => {
    const tables = [tableOf("brand", ["href"], []), tableOf("model", ["href", "brand_href"], [])];
    expect(await problemsIn(await write({ formats: exportFormats, tables }))).toEqual([]);
  });
});

it.each([
  ["json", "the list has no end", (text: string) => text.replace(/\]\n$/, "")],
  ["json", "the list has no beginning", (text: string) => text.slice(2)],
  ["json", "a comma between rows is missing", (text: string) => text.replace("},\n", "}\n")],
  ["json", "a comma follows the last row", (text: string) => text.replace("}\n]", "},\n]")],
  ["json", "something follows the list", (text: string) => `${text}[]\n`],
  ["json", "a member is there twice", (text: string) => text.replace('"name"', '"href"')],
  ["ndjson", "a member is there twice", (text: string) => text.replace('"name"', '"href"')],
  ["json", "a line is no row", (text: string) => text.replace("[\n", "[\nrow\n")],
  ["ndjson", "a line is no row", (text: string) => `row\n${text}`],
  ["ndjson", "a line is empty", (text: string) => text.replace("\n", "\n\n")],
  ["ndjson", "a comma follows a row", (text: string) => text.replace("}\n", "},\n")],
] as const)("a file in %s is unreadable if %s", async (format, _how, change) => {
  const folder = await write({ formats: [format] });
  forge(folder, `brand.${format}`, (bytes) => change(bytes.toString()));
  expect(await problemsIn(folder)).toContainEqual({ path: `brand.${format}`, code: "unreadable" });
});

describe.each(["csv", "json", "ndjson"] as const)("rows of %s", (format) => {
  const brandFile = `brand.${format}`;

  it("a missing row is found", async () => {
    const folder = await write({ formats: [format] });
    forge(folder, brandFile, (bytes) =>
      bytes
        .toString()
        .split("\n")
        .filter((line) => !line.includes("example/2/"))
        .join("\n"),
    );
    expect(await problemsIn(folder)).toEqual([{ path: brandFile, code: "wrong-rows" }]);
  });

  it("two rows with one key are found", async () => {
    const folder = await write({ formats: [format] });
    forge(folder, brandFile, replacing("example/2/", "example/3/"));
    expect(await problemsIn(folder)).toEqual([{ path: brandFile, code: "duplicate-key" }]);
  });

  it("rows in another order than that of their keys are found", async () => {
    const folder = await write({ formats: [format] });
    forge(folder, `model.${format}`, (bytes) =>
      bytes.toString().replaceAll(/m\/[12]/g, (id) => (id === "m/1" ? "m/2" : "m/1")),
    );
    expect(await problemsIn(folder)).toEqual([{ path: `model.${format}`, code: "wrong-order" }]);
  });

  it("a key that is null, and bytes that are not UTF-8, make a file unreadable", async () => {
    const folder = await write({ formats: [format] });
    forge(
      folder,
      brandFile,
      replacing(
        format === "csv" ? "https://a.example/2/" : '"https://a.example/2/"',
        format === "csv" ? "" : "null",
      ),
    );
    forge(folder, `model.${format}`, (bytes) =>
      Buffer.from(bytes.toString().replaceAll("m/2", "m/\xff"), "latin1"),
    );
    expect(await problemsIn(folder)).toEqual([
      { path: brandFile, code: "unreadable" },
      { path: `model.${format}`, code: "unreadable" },
    ]);
  });

  it("a reference to a row that is not there is found", async () => {
    const folder = await write({ formats: [format] });
    forge(folder, `model.${format}`, replacing("a.example/3/", "a.example/9/"));
    expect(await problemsIn(folder)).toEqual([{ path: `model.${format}`, code: "broken-reference" }]);
  });

  it("references to a file with other problems are not reported as well", async () => {
    const folder = await write({ formats: [format] });
    forge(folder, brandFile, () => "");
    const problems = await problemsIn(folder);
    expect(new Set(problems.map(({ path }) => path))).toEqual(new Set([brandFile]));
  });
});

it.each([
  ["csv", replacing("href,name", "href,label")],
  ["csv", replacing("bra_count\n", "bra_count,more\n")],
  ["csv", replacing("https://a.example/2/,,", "https://a.example/2/,,,")],
  ["csv", replacing(",5\n", ',"5"5\n')],
  ["csv", replacing(",5\n", ",5\r\n")],
  ["csv", replacing("two", "two\0")],
  ...["abc", "1.5", "1e3", "0x10", " 5", "5 ", "+5"].map(
    (cell) => ["csv", replacing(",5\n", `,${cell}\n`)] as const,
  ),
  ["json", replacing('"name":null', '"name":nothing')],
  ["ndjson", replacing('"name":null', '"name":')],
] as const)("%s that does not parse is unreadable (%#)", async (format, change) => {
  const folder = await write({ formats: [format] });
  forge(folder, `brand.${format}`, change);
  expect(await problemsIn(folder)).toEqual([{ path: `brand.${format}`, code: "unreadable" }]);
});

it("numbers in each form that a service may send are readable", async () => {
  const cells = [
    "1E400",
    "1.00000000000000000000001e5",
    "-0.10E-400",
    1.5e300,
    1e-7,
    Number.NEGATIVE_INFINITY,
  ];
  const rows = cells.map((cell, n) => [
    `https://a.example/${n}/`,
    cell,
    ["1e+21", "1.5e+300", "9".repeat(40)][n] ?? null,
  ]);
  const bras = tableOf("bra", ["href", "bust_perimeter", "version"], rows);
  const counted = tableOf(
    "brand",
    ["href", "bra_count"],
    rows.map(([href = null, , count = null]) => [href, count]),
  );
  expect(await problemsIn(await write({ tables: [bras, counted], references: [] }))).toEqual([]);
});

it("a quotation mark that is not closed is noticed by the rows that it swallows", async () => {
  const folder = await write({ formats: ["csv"] });
  forge(folder, "brand.csv", replacing("https://a.example/2/", '"https://a.example/2/'));
  expect(await problemsIn(folder)).toEqual([{ path: "brand.csv", code: "wrong-rows" }]);
});

it("a compressed file is read, and one that ends early or is longer than stated is unreadable", async () => {
  const path = "brand.csv.gz";
  const change = async (edit: (bytes: Buffer) => Buffer) => {
    const folder = await write({ compression: "gzip" });
    for (const name of [path, "model.csv.gz"]) expectUnreadable(join(folder, name));
    forge(folder, path, edit);
    return await problemsIn(folder);
  };
  expect(await change((bytes) => bytes)).toEqual([]);
  const duplicate = (bytes: Buffer) =>
    gzipSync(gunzipSync(bytes).toString().replace("example/2/", "example/3/"));
  expect(await change(duplicate)).toEqual([{ path, code: "duplicate-key" }]);
  expect(await change((bytes) => bytes.subarray(0, -9))).toEqual([{ path, code: "unreadable" }]);
  expect(await change(() => gzipSync(Buffer.alloc(100_000_000)))).toEqual([{ path, code: "unreadable" }]);
});

it("Parquet and SQLite files with other rows, or that are none, are found", async () => {
  const folder = await write({ formats: ["parquet", "sqlite"] });
  const other = await write({
    formats: ["parquet"],
    tables: [tableOf("brand", ["href"], [["a"]])],
    references: [],
  });
  forge(folder, "brand.parquet", () => readFileSync(join(other, "brand.parquet")));
  forge(folder, "model.parquet", () => "no Parquet file");
  const path = join(folder, "tables.sqlite");
  const db = new Database(path);
  db.exec("pragma foreign_keys = off; delete from brand where href like '%/1/'");
  db.close();
  forge(folder, "tables.sqlite", (bytes) => bytes);
  expect(await problemsIn(folder)).toEqual([
    { path: "brand.parquet", code: "wrong-rows" },
    { path: "model.parquet", code: "unreadable" },
    { path: "tables.sqlite", code: "wrong-rows" },
    { path: "tables.sqlite", code: "broken-reference" },
  ]);
});

it("an SQLite file whose table is an endless view is unreadable, and so is one in WAL mode", async () => {
  const forgeSqlite = async (sql: string) => {
    const folder = await write({ formats: ["sqlite"], references: [] });
    const db = new Database(join(folder, "tables.sqlite"));
    db.exec(sql);
    db.close();
    forge(folder, "tables.sqlite", (bytes) => bytes);
    return await problemsIn(folder);
  };
  const unreadable = [{ path: "tables.sqlite", code: "unreadable" }];
  const endless = "with recursive n (i) as (select 1 union all select i + 1 from n) select i from n";
  expect(await forgeSqlite(`drop table brand; create view brand as ${endless}`)).toEqual(unreadable);
  expect(await forgeSqlite("pragma journal_mode = wal")).toEqual(unreadable);
});

it("an SQLite file with a log beside it is unreadable, and nothing is opened or written beside it", async () => {
  const folder = await write({ formats: ["sqlite"], references: [] });
  for (const end of ["-journal", "-wal", "-shm"]) {
    const log = `tables.sqlite${end}`;
    execFileSync("mkfifo", [join(folder, log)]);
    const names = readdirSync(folder);
    expect(await problemsIn(folder)).toEqual([
      { path: "tables.sqlite", code: "unreadable" },
      { path: log, code: "not-listed" },
    ]);
    expect(readdirSync(folder)).toEqual(names);
    rmSync(join(folder, log));
  }
});
