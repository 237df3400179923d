import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeText, unescapeText } from "../../exports/formats/escaped-text.ts";
import { jsonChunks } from "../../exports/formats/json.ts";
import type { Cell } from "../../schema/fields.ts";
import { isRawNumber, parseJsonOrThrow } from "../../schema/json.ts";
import { anyTable, tableOf } from "./support/arbitrary-table.ts";

const write = (rows: readonly (readonly Cell[])[]): string =>
  [...jsonChunks(tableOf("brand", ["name", "count"], rows))].join("");

function expectCell(value: unknown, cell: Cell): void {
  if (typeof cell === "bigint") expect(BigInt(isRawNumber(value) ? value.rawJSON : String(value))).toBe(cell);
  else if (typeof cell === "number" && isRawNumber(value)) expect(Number(value.rawJSON)).toBe(cell);
  else expect(typeof value === "string" ? unescapeText(value) : value).toBe(cell);
}

describe("rows", () => {
  it("JSON reads back to the same cells for any text and numbers", () => {
    fc.assert(
      fc.property(anyTable, (table) => {
        const bytes = Buffer.from([...jsonChunks(table)].join(""));
        const records = parseJsonOrThrow(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
          .value as object[];
        expect(records.length).toBe(table.cells.length);
        table.cells.forEach((row, index) => {
          const record = new Map(Object.entries(records[index] ?? {}));
          const names = table.columns.map(escapeText);
          expect([...record.keys()].sort()).toEqual([...names].sort());
          for (const [column, cell] of row.entries()) expectCell(record.get(names[column] ?? ""), cell);
        });
      }),
    );
  });

  it("JSON is one array with one row per line", () => {
    expect(
      write([
        ["Anita", 3],
        [null, -0],
      ]),
    ).toBe('[\n{"name":"Anita","count":3},\n{"name":null,"count":-0}\n]\n');
  });

  it("JSON is an empty array without rows", () => {
    expect(JSON.parse(write([]))).toEqual([]);
  });

  it("JSON keeps integers exact, and escapes text that UTF-8 cannot hold", () => {
    expect(write([["\ud800\0", 9007199254740993n]])).toBe(
      '[\n{"name":"\\\\ud800\\\\u0000","count":9007199254740993}\n]\n',
    );
  });
});
