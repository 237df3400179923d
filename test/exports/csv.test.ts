import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CsvProfile,
  csvChunks,
  csvProfiles,
  csvRowReader,
  fromCsvText,
  readCsvRows,
  toCsvText,
} from "../../exports/formats/csv.ts";
import type { Cell } from "../../schema/fields.ts";
import { type CsvField, readCsv } from "../support/read-csv.ts";
import { anyTable, anyText, tableOf } from "./support/arbitrary-table.ts";

const guarded = "guarded";
const write = (rows: readonly (readonly Cell[])[], profile: CsvProfile = guarded): string =>
  [...csvChunks(tableOf("brand", ["name", "count"], rows), profile)].join("");

/** Through bytes, as in a file. */
const throughUtf8 = (text: string): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text));

function expectCell(field: CsvField | undefined, cell: Cell, profile: CsvProfile): void {
  if (cell === null) expect(field).toEqual({ text: "", isQuoted: false });
  else if (typeof cell === "bigint") expect(BigInt(field?.text ?? "")).toBe(cell);
  else if (typeof cell === "number") expect(Number(field?.text)).toBe(cell);
  else {
    expect(fromCsvText(field?.text ?? "", profile)).toBe(cell);
    if (cell === "") expect(field?.isQuoted).toBe(true);
  }
}

describe("cells", () => {
  it("CSV reads back to the same cells for any text and numbers", () => {
    fc.assert(
      fc.property(anyTable, fc.constantFrom("guarded" as const, "exact" as const), (table, profile) => {
        const [header, ...records] = readCsv(throughUtf8([...csvChunks(table, profile)].join("")));
        expect(header?.map((field) => fromCsvText(field.text, profile))).toEqual(table.columns);
        expect(records.length).toBe(table.cells.length);
        table.cells.forEach((row, index) => {
          for (const [column, cell] of row.entries()) expectCell(records[index]?.[column], cell, profile);
        });
      }),
    );
  });

  it("CSV has a header, LF line ends, and only necessary quotes", () => {
    expect(
      write([
        ['Anita, "Rosa"', 3],
        ["Ulla\nB", -2.5],
        ["Ewa", 9007199254740993n],
      ]),
    ).toBe('name,count\n"Anita, ""Rosa""",3\n"Ulla\nB",-2.5\nEwa,9007199254740993\n');
  });

  it("CSV distinguishes null from empty text", () => {
    expect(
      write([
        [null, null],
        ["", ""],
      ]),
    ).toBe('name,count\n,\n"",""\n');
  });

  it("CSV has only a header for a table without rows", () => {
    expect(write([])).toBe("name,count\n");
  });

  it("CSV escapes NUL and lone surrogates, distinct from text that looks like an escape", () => {
    expect(toCsvText("a\0b", guarded)).toBe("a\\u0000b");
    expect(toCsvText("\ud800 😀", guarded)).toBe("\\ud800 😀");
    expect(toCsvText("\\u0000", guarded)).toBe("\\\\u0000");
    expect(toCsvText("\\\0", guarded)).toBe("\\\\\\u0000");
    expect(toCsvText("C:\\users", guarded)).toBe("C:\\users");
  });

  it("CSV reads any text back, in every profile", () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(...csvProfiles), (text, profile) => {
        expect(fromCsvText(toCsvText(text, profile), profile)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(["\u4e00", "😀"])("a text of millions of %j becomes CSV and is read back", (part) => {
    const cell = part.repeat(2 ** 23 / part.length);
    const text = [...csvChunks(tableOf("brand", ["a", "b"], [[cell, null]]), "exact")].join("");
    const [row = []] = [...readCsvRows(text.split("\n").slice(0, -1), "exact")];
    // A message with both would take minutes.
    expect(row[0] === cell).toBe(true);
    expect(row[1]).toBe(null);
  });

  it("a long record of CSV has the cells that its parts have as short ones, and is refused as they are", () => {
    const cell = fc.oneof(anyText, fc.stringMatching(/^["a,\r\n]{0,6}$/));
    fc.assert(
      fc.property(fc.array(cell, { maxLength: 5 }), fc.constantFrom(...csvProfiles), (cells, profile) => {
        const read = (record: string) => {
          try {
            const reader = csvRowReader(profile);
            return record.split("\n").map((line) => reader.add(line));
          } catch (error) {
            return (error as Error).message;
          }
        };
        const long = "x".repeat(70_000);
        const expected = JSON.stringify(read(["x", ...cells].join(",")));
        expect(JSON.stringify(read([long, ...cells].join(","))).replace(long, "x")).toBe(expected);
      }),
    );
  });

  it("CSV takes linear time, also for runs of backslashes and apostrophes", () => {
    const runs = [
      "\\".repeat(200_000),
      `;${"'".repeat(200_000)}`,
      ";'".repeat(100_000),
      '"='.repeat(100_000),
    ].join("");
    expect(fromCsvText(toCsvText(`${runs}\0`, guarded), guarded)).toBe(`${runs}\0`);
  });
});

describe("formula guard", () => {
  it.each([
    ["=1+1", "'=1+1"],
    ["+31 20 555", "'+31 20 555"],
    ["-2", "'-2"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["＝1", "'＝1"],
    ["\ufeff=1", "'\ufeff=1"],
    ["＋1", "'＋1"],
    ["－1", "'－1"],
    ["＠a", "'＠a"],
    ["\t=1", "'\t=1"],
    ["\r=1", "'\r=1"],
    ["\n=1", "'\n=1"],
    ["'s Hertogenbosch", "''s Hertogenbosch"],
    ["'=1", "''=1"],
  ])("the guard against formulas writes %j as %j", (text, written) => {
    expect(toCsvText(text, guarded)).toBe(written);
  });

  it.each([
    "O'Reilly",
    "a;=1",
    "a,=1",
    "brand;'--",
    "a\n@b",
    "a=b",
    "https://a.example/?x=1&y=-2",
    "75-85",
    "two\r\n\r\nlines",
  ])("the guard against formulas does not change %j", (text) => {
    expect(toCsvText(text, guarded)).toBe(text);
  });

  it("the guard against formulas covers header names but not numbers", () => {
    expect([...csvChunks(tableOf("t", ["=x", "y"], [[-1, -2n]]), guarded)].join("")).toBe("'=x,y\n-1,-2\n");
  });

  it("the guard against formulas is off in the exact profile", () => {
    expect(write([["=1+1", "@"]], "exact")).toBe("name,count\n=1+1,@\n");
  });

  it("the guard against formulas leaves no cell that starts with a formula", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(toCsvText(text, guarded)).not.toMatch(/^\ufeff?[=+\-@＝＋－＠\t\r\n]/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("profile for Excel", () => {
  it("CSV for Excel begins with a byte order mark, ends lines with CR LF, and guards formulas", () => {
    expect(write([["=1", 2]], "excel")).toBe("\ufeffname,count\r\n'=1,2\r\n");
  });
});
