import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeText } from "../../exports/formats/escaped-text.ts";
import { jsonChunks, ndjsonChunks } from "../../exports/formats/json.ts";
import type { Cell } from "../../schema/fields.ts";
import { anyTable, tableOf } from "./support/arbitrary-table.ts";

const write = (rows: readonly (readonly Cell[])[]): string =>
  [...ndjsonChunks(tableOf("brand", ["name", "count"], rows))].join("");

describe("rows", () => {
  it("NDJSON has one row per line, with the same text as in the JSON array", () => {
    fc.assert(
      fc.property(anyTable, (table) => {
        const text = [...ndjsonChunks(table)].join("");
        const lines = text.split("\n").slice(0, -1);
        expect(lines.length).toBe(table.cells.length);
        for (const line of lines)
          expect(Object.keys(JSON.parse(line)).sort()).toEqual(table.columns.map(escapeText).sort());
        const array = [...jsonChunks(table)].join("");
        expect(array).toBe(lines.length === 0 ? "[\n]\n" : `[\n${lines.join(",\n")}\n]\n`);
      }),
    );
  });

  it("NDJSON ends every line with LF, also the last one", () => {
    expect(
      write([
        ["Anita\n", 3],
        [null, 9007199254740993n],
      ]),
    ).toBe('{"name":"Anita\\n","count":3}\n{"name":null,"count":9007199254740993}\n');
  });

  it("NDJSON is empty without rows", () => {
    expect(write([])).toBe("");
  });
});
