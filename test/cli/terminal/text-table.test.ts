import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeControls } from "../../../src/cli/terminal/safe-text.ts";
import { displayWidth } from "../../../src/cli/terminal/table/display-width.ts";
import { fittedLines, formatTable, formatWrappedTable } from "../../../src/cli/terminal/table/text-table.ts";

/** Characters that control a terminal or the direction of text, and code points that are no characters. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Any text, with many control characters. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        ...["\u001b[31m", "\u009b2J", "\u001b]8;;http://evil.example\u0007", "\u001bP", "\u0000", "\u007f"],
        ...[
          "\u202e",
          "\u2066",
          "\u200f",
          "\u061c",
          "\u2028",
          "\u2029",
          "\ufeff",
          "\u00ad",
          "\u200b",
          "\u2060",
          "\u{e0041}",
          "\ud800",
          "\udfff",
          "\r",
          "\n",
          "\t",
          "\b",
          "日本",
          "👙",
          "e\u0301",
        ],
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(""));

describe("values", () => {
  it("a value on a terminal never contains a control character", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = escapeControls(text);
        expect(shown).not.toMatch(unsafe);
        expect(shown.isWellFormed()).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["plain text", "Plié, Soft & Co.", "Plié, Soft & Co."],
    ["line ends and tabs", "a\nb\tc\r", "a\\nb\\tc\\u000d"],
    ["a colour", "\u001b[31mred\u001b[0m", "red"],
    ["the C1 form of a sequence", "\u009b31mred", "red"],
    ["an escape of no sequence", "\u001b", "\\u001b"],
    ["text turned around", "\u202egnp.exe", "\\u202egnp.exe"],
    ["invisible characters", "a\u00adb\u200bc\u2060d\ufeff", "a\\u00adb\\u200bc\\u2060d\\ufeff"],
    ["invisible tags", "a\u{e0041}", "a\\udb40\\udc41"],
    ["separators of lines and paragraphs", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["half a character", "lone \ud800", "lone \\ud800"],
    ["a whole one of two halves", "👙", "👙"],
    ["nothing", null, ""],
    ["a large whole number", 2n ** 70n, "1180591620717411303424"],
    ["a flag", true, "true"],
  ])("%s is shown in readable form", (_case, value, shown) => {
    expect(escapeControls(value)).toBe(shown);
  });
});

describe("tables", () => {
  it("a table aligns text left and numbers right, without trailing spaces", () => {
    const table = formatTable(
      ["name", "bras"],
      [
        ["Ada", 7],
        ["Belle & Sons", 1200],
        ["", null],
      ],
    );
    expect(table).toBe(
      ["name          bras", "────────────  ────", "Ada              7", "Belle & Sons  1200", "", ""].join(
        "\n",
      ),
    );
  });

  it("a table counts two columns for wide characters and one for combined ones", () => {
    const lines = formatTable(
      ["name", "n"],
      [
        ["日本", 1],
        ["e\u0301", 2],
        ["👙", 3],
      ],
    ).split("\n");
    expect(lines.slice(2, 5)).toEqual(["日本  1", "e\u0301     2", "👙    3"]);
  });

  it("a table accepts more rows than a call accepts arguments", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => [index]);
    const lines = formatTable(["n"], rows).split("\n");
    expect(lines).toHaveLength(200_003);
    expect(lines.slice(0, 3)).toEqual(["     n", "──────", "     0"]);
  });

  it("a table without rows has only its heading", () => {
    expect(formatTable(["kind", "known"], [])).toBe("kind  known\n────  ─────\n");
  });

  it("a table has one safe line per row for any cells", () => {
    const cell = fc.oneof(hostileText, fc.integer(), fc.bigInt(), fc.constant(null));
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell)), fc.tuple(hostileText, hostileText), (rows, columns) => {
        const lines = formatTable(columns, rows).split("\n");
        expect(lines.length).toBe(rows.length + 3);
        for (const line of lines) expect(line).not.toMatch(unsafe);
      }),
    );
  });
});

describe("tables on a terminal", () => {
  const fitted = (columns: readonly string[], rows: readonly (readonly unknown[])[], width: number) => [
    ...fittedLines(columns, rows, width),
  ];
  const address = "https://service.example/brands/ada/models/longline-balconette/";

  it("addresses go last and are cut in the middle, so that the table fits", () => {
    expect(fitted(["href", "name", "bras"], [[address, "Longline", 12]], 50)).toEqual([
      "name      bras  href",
      `────────  ────  ${"─".repeat(34)}`,
      "Longline    12  https://ser…s/longline-balconette/",
    ]);
  });

  it("a table that fits shows all of every cell", () => {
    expect(fitted(["href", "name"], [[address, "Ada"]], 80)).toEqual([
      "name  href",
      `────  ${"─".repeat(address.length)}`,
      `Ada   ${address}`,
    ]);
  });

  it("numbers have separators in columns with a whole number of five digits or more", () => {
    const rows = [
      [1234567, 1980, 2n ** 64n, 0.5, -10000, "12345"],
      [1000, 2026, 1, 12345.5, 1, "1"],
    ];
    expect(fitted(["a", "b", "c", "d", "e", "f"], rows, 80).slice(2)).toEqual([
      "1,234,567  1980  18,446,744,073,709,551,616      0.5  -10,000  12345",
      "    1,000  2026                           1  12345.5        1  1",
    ]);
  });

  it("the points of numbers are below each other", () => {
    expect(
      fitted(
        ["cm", "name"],
        [
          [116.9, "a"],
          [94, "b"],
          [null, "c"],
          [7.25, "d"],
        ],
        80,
      ),
    ).toEqual(["    cm  name", "──────  ────", "116.9   a", " 94     b", "        c", "  7.25  d"]);
  });

  it("a table that is too wide has headings of several lines, if they are wider than their cells", () => {
    const columns = ["day", "loose_underbust", "snug_underbust", "lying bust"];
    expect(fitted(columns, [["2026-11-03", 94.5, 84, null]], 45)).toEqual([
      "               loose_      snug_  lying",
      "day         underbust  underbust   bust",
      "──────────  ─────────  ─────────  ─────",
      "2026-11-03       94.5         84",
    ]);
    expect(fitted(columns, [["2026-11-03", 94.5, 84, null]], 80)).toHaveLength(3);
  });

  it("a key stays whole, and the URL and long names give way to it", () => {
    const key = "kiramode-atelier/longline-balconette/65F";
    const row = ["Longline Balconette with a very long name", 12, key, address];
    expect(fitted(["name", "bras", "key", "href"], [row], 70)).toEqual([
      "name                    bras  key",
      "──────────────────────  ────  ────────────────────────────────────────",
      `Longline Balconette w…    12  ${key}`,
    ]);
  });

  it("a few long keys are below their rows, and all keys are where most are too long for a column", () => {
    const long = "kiramode-atelier/longline-balconette";
    const names = ["Ada", "Belle & Sons", "Corasil", "Devi", "Emi", "Fay", "Gia", "Hana", "Ida", "Jo", "Kay"];
    const rows = names.map((name, n) => [name, n === 1 ? long : name.toLowerCase()]);
    const lines = fitted(["name", "key"], rows, 40);
    expect(lines.slice(0, 6)).toEqual([
      ...["name          key", "────────────  ───────", "Ada           ada"],
      ...["Belle & Sons", `  ${long}`, "Corasil       corasil"],
    ]);
    expect(fitted(["name", "bras", "key", "href"], [["Longline Balconette", 12, long, address]], 50)).toEqual(
      [
        ...["name                 bras", "  key", "───────────────────  ────"],
        ...["Longline Balconette    12", `  ${long}`],
      ],
    );
    // No room for the key: a line for each value.
    const record = fitted(["name", "key"], [["Longline", long]], 30);
    expect(record.slice(1)).toEqual(["name  Longline", `key   ${long}`]);
  });

  it("a matrix of numbers has narrower gaps before it is given up", () => {
    const columns = ["band", "A", "B", "C", "D"];
    const rows = [[30, 100, 200, 300, 400]];
    expect(fitted(columns, rows, 20)).toEqual([
      ...["band   A   B   C   D", "──── ─── ─── ─── ───", "  30 100 200 300 400"],
    ]);
    expect(fitted(columns, rows, 19)[0]).toMatch(/^─ 1 of 1 /);
  });

  it("the URL gives way to names and numbers that need its place, but not if it is all that names a row", () => {
    const names = ["Longline Balconette", 12345678, "Kiramode Atelier"];
    expect(fitted(["name", "bras", "brand", "href"], [[...names, address]], 55)).toEqual([
      "name                       bras  brand",
      "───────────────────  ──────────  ────────────────",
      "Longline Balconette  12,345,678  Kiramode Atelier",
    ]);
    expect(fitted(["href", "bras", "brand"], [[address, ...names.slice(1)]], 40)[0]).toMatch(/href$/);
    expect(fitted(["name", "bras", "brand", "url"], [[...names, address]], 55)[0]).toMatch(/url$/);
  });

  it("a time is never cut", () => {
    const time = "2026-11-24T06:30:00.974170";
    const row = ["Longline Balconette".repeat(3), time];
    expect(fitted(["name", "last_modified_at"], [row], 40)[2]).toBe(`Longline Ba…  ${time}`);
  });

  it("rows that cannot fit have a line for each value, and only addresses are cut, in the middle", () => {
    const href = "https://api.example.org/brands/comexim/models/a-long-name-of-a-model/";
    const [, count, address] = fitted(["bra_count", "href"], [[12_345_678, href]], 27);
    expect([count, address]).toEqual(["bra_count  12,345,678", "href       …ame-of-a-model/"]);
    const columns = Array.from({ length: 6 }, (_, n) => `column ${n}`);
    const rows = [1, 2].map((row) => columns.map((_, n) => `${"x".repeat(20)} ${row} ${n}`));
    const lines = fitted(columns, rows, 60);
    expect(lines[0]).toBe("─ 1 of 2 ".padEnd(60, "─"));
    expect(lines.slice(1, 3)).toEqual([`column 0  ${"x".repeat(20)} 1 0`, `column 1  ${"x".repeat(20)} 1 1`]);
    expect(lines).toHaveLength(14);
  });

  it("no line of a table is wider than the terminal, and no number is cut", () => {
    const cell = fc.oneof(
      ...[hostileText, fc.integer(), fc.constant(null), fc.webUrl({ withQueryParameters: true })],
      fc.string({ minLength: 20, maxLength: 60 }),
    );
    const table = fc.array(fc.tuple(cell, cell, cell, fc.integer()), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(table, fc.integer({ min: 20, max: 120 }), (rows, width) => {
        const lines = fitted(["a", "b", "c", "number"], rows, width);
        if (lines[0]?.startsWith("─")) return;
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        for (const [n, row] of rows.entries())
          expect(lines[n + 2]?.replaceAll(",", "")).toContain(String(row[3]));
      }),
    );
  });
});

describe("tables with sentences", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 12 });
  const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));
  const rowsOf = fc.array(fc.tuple(word, sentence), { minLength: 1, maxLength: 10 });

  it("on a terminal the last column is wrapped, and no word is lost", () => {
    fc.assert(
      fc.property(rowsOf, fc.integer({ min: 40, max: 120 }), (rows, columns) => {
        const [, , ...lines] = formatWrappedTable(["name", "about"], rows, { columns }).trimEnd().split("\n");
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
        expect(lines.join(" ").split(/\s+/)).toEqual(rows.flat().join(" ").split(" "));
      }),
    );
  });

  it.each([null, { columns: 17 }])(
    "without a terminal, or on a narrow one (%j), each row is a line",
    (screen) => {
      const rows = [["name", "some words that are long"]];
      expect(formatWrappedTable(["name", "about"], rows, screen)).toBe(formatTable(["name", "about"], rows));
    },
  );
});
