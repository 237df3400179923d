import fc from "fast-check";
import type { ExportTable, Row } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";

/** Any UTF-16 text; characters that formats treat specially are frequent. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "'",
          "=",
          "+",
          "-",
          "@",
          "＝",
          "\t",
          "\r",
          "\n",
          "\0",
          '"',
          ",",
          ";",
          "|",
          "\\",
          "u0000",
          "ud83d",
        ),
        fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
        fc.constantFrom("null", "é", "😀", "שלום", "\u202e", "\u2028", "\ufeff", "a"),
      ),
    )
    .map((parts) => parts.join("")),
);

const anyCell: fc.Arbitrary<Cell> = fc.oneof(
  anyText,
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constant(null),
);

export function tableOf(name: string, columns: readonly string[], rows: readonly Row[]): ExportTable {
  return { name, columns, rows: () => rows };
}

export const anyTable: fc.Arbitrary<ExportTable & { readonly cells: readonly Row[] }> = fc
  .uniqueArray(fc.oneof(fc.stringMatching(/^[a-z_]{1,8}$/), anyText), { minLength: 1, maxLength: 5 })
  .chain((columns) =>
    fc
      .array(fc.array(anyCell, { minLength: columns.length, maxLength: columns.length }), { maxLength: 150 })
      .map((cells) => ({ ...tableOf("any", columns, cells), cells })),
  );
