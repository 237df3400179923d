import { hash } from "node:crypto";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvChunks, csvProfiles, readCsvRows } from "../../exports/formats/csv.ts";
import { jsonChunks, ndjsonChunks, numberText, readJsonRows } from "../../exports/formats/json.ts";
import { readLines } from "../../exports/package/lines.ts";
import { readDataPackage } from "../../exports/package/read-package.ts";
import { writeDataPackage } from "../../exports/package/write-package.ts";
import type { Cell } from "../../schema/fields.ts";
import { anyTable, anyText, tableOf } from "./support/arbitrary-table.ts";
import { makeTestFolder } from "./support/folder-state.ts";

/** JSON has one type of number: integers that a double holds are doubles. */
const asDouble = (cell: Cell) =>
  typeof cell === "bigint" && Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
/** A double without a fraction and beyond 2^53 is written as an integer. */
const asJson = (cell: Cell) =>
  typeof cell === "number" && /^-?\d{16,}$/.test(String(cell)) && !Number.isSafeInteger(cell)
    ? BigInt(String(cell))
    : asDouble(cell);
const asText = (cell: Cell) =>
  typeof cell === "number" || typeof cell === "bigint" ? numberText(cell) : cell;

const linesOf = (chunks: Iterable<string>) => [...chunks].join("").split("\n").slice(0, -1);

describe("round trip", () => {
  it.each([
    ["JSON", jsonChunks],
    ["NDJSON", ndjsonChunks],
  ])("reading an export back gives every cell of %s", (_format, chunksOf) => {
    fc.assert(
      fc.property(anyTable, (table) => {
        const rows = [...readJsonRows(linesOf(chunksOf(table)), table.columns)];
        expect(rows).toEqual(table.cells.map((row) => row.map(asJson)));
      }),
    );
  });

  it("reading an export back gives every cell of CSV as text, in each profile", () => {
    fc.assert(
      fc.property(anyTable, fc.constantFrom(...csvProfiles), (table, profile) => {
        const rows = [...readCsvRows(linesOf(csvChunks(table, profile)), profile)];
        expect(rows).toEqual(table.cells.map((row) => row.map(asText)));
      }),
    );
  });
});

it("readLines gives whole lines wherever chunks end", async () => {
  const path = join(await makeTestFolder(), "lines");
  await fc.assert(
    fc.asyncProperty(fc.array(anyText), fc.nat(70_000), async (texts, length) => {
      const lines = ["é".repeat(length), ...texts.map((text) => text.replaceAll("\n", "").toWellFormed())];
      await writeFile(path, lines.map((line) => `${line}\n`).join(""));
      expect([...readLines(path)]).toEqual(lines);
    }),
    { numRuns: 30 },
  );
});

describe("formats and checksums", () => {
  const table = tableOf("brand", ["href", "bra_count"], [["a", 5n]]);
  const write = async (formats: readonly ("csv" | "json" | "ndjson")[]) => {
    const out = join(await makeTestFolder(), "export");
    await writeDataPackage({
      out,
      formats,
      tables: [table],
      state: { baseUrl: "https://a.example/", run: 1, endedAt: null },
      toolVersion: "0",
    });
    return out;
  };

  it("a data package is read from its most exact format, and says whether numbers are typed", async () => {
    for (const [formats, isTyped, rows] of [
      [["csv", "json"], true, [["a", 5]]],
      [["csv", "ndjson"], true, [["a", 5]]],
      [["ndjson"], true, [["a", 5]]],
      [["csv"], false, [["a", "5"]]],
    ] as const) {
      const { tables } = await readDataPackage(await write(formats));
      expect(tables.map((read) => ({ ...read, rows: [...read.rows()] }))).toEqual([
        { name: "brand", columns: ["href", "bra_count"], isTyped, rows },
      ]);
    }
  });

  it("a data package is refused if a file differs from the exported one", async () => {
    const out = await write(["csv"]);
    await appendFile(join(out, "brand.csv"), "b,6\n");
    await expect(readDataPackage(out)).rejects.toMatchObject({
      code: "damaged-package",
      message: expect.stringContaining("brand.csv differs from the exported file"),
    });
  });

  it.each([
    ["json", "no rows"],
    ["json", "[".repeat(1000)],
    ["json", '[\n{"href":"a"\n]\n'],
    ["ndjson", ""],
    ["csv", "href,bra_count\n"],
    ["csv", 'href,bra_count\n"a,5\n'],
    ["csv", "href;bra_count\na;5\n"],
    ["csv", "bra_count,href\n5,a\n"],
    ["csv", "href,bra_count\nb,5\na,5\n", 2],
    ["json", '[\n{"href":"b"},\n{"href":"a"}\n]\n', 2],
  ] as readonly ["csv" | "json" | "ndjson", string, number?][])(
    "rows of %s that are not as stated are refused, although the hash is right: %j",
    async (format, text, rows = 1) => {
      const out = await write([format]);
      await writeFile(join(out, `brand.${format}`), text);
      const descriptor = JSON.parse(await readFile(join(out, "datapackage.json"), "utf8"));
      Object.assign(descriptor.resources[0], {
        rows,
        bytes: text.length,
        hash: `sha256:${hash("sha256", text)}`,
      });
      await writeFile(join(out, "datapackage.json"), JSON.stringify(descriptor));
      await expect(readDataPackage(out)).rejects.toMatchObject({ code: "damaged-package" });
    },
  );
});
