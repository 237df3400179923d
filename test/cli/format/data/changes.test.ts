import { describe, expect, it } from "vitest";
import { toJson } from "../../../../exports/formats/json.ts";
import type { Change } from "../../../../src/change/change.ts";
import type { Keyed } from "../../../../src/change/keys.ts";
import { rowsOf } from "../../../../src/change/log/change-rows.ts";
import { changeFormatter, formatTotals } from "../../../../src/cli/format/data/changes.ts";
import type { Line } from "../../../../src/cli/terminal/io.ts";
import { displayWidth } from "../../../../src/cli/terminal/table/display-width.ts";

const to = {
  ...{ place: { folder: "x", run: null }, baseUrl: "https://a.example/", isTyped: true, tables: [] },
  ...{ brands: () => [], close() {} },
};
const about = {
  ...{ kind: "model", key: null, brand: null, model: null },
  ...{ href: "https://a.example/m/1/", name: "One" },
} as const;
const textOf = (lines: readonly Line[]) => lines.map(({ text }) => `${text}\n`).join("");
const describeAll = (...changes: readonly Keyed<Change>[]) =>
  textOf(changes.flatMap(changeFormatter({ to }, 80)));

describe("text", () => {
  it("a change as text has the key that `show` takes instead of its path", () => {
    const change = { ...about, key: "maker/one", change: "changed", fields: [] } as const;
    expect(describeAll(change)).toBe("\nmodel\n  changed   One  maker/one\n");
  });

  it("a change as text has the names of brand and model before its own", () => {
    const size = {
      ...about,
      kind: "size",
      brand: "Maker",
      model: "One",
      name: "70F",
      change: "added",
      row: {},
    };
    const model = { ...about, brand: "Maker", change: "added", row: {} } as const;
    expect(describeAll({ ...size, change: "added" }, model)).toBe(
      "\nsize\n  added     Maker › One › 70F  m/1/\n\nmodel\n  added     Maker › One  m/1/\n",
    );
  });

  it("a change as text without a key starts with its kind, then the path below the service, then the changed fields", () => {
    const fields = [
      { field: "bra_count", before: 1n, after: null },
      { field: "manufacturer_stock_pictures", before: [], after: [{ url: "x", text: null }] },
    ];
    expect(describeAll({ ...about, change: "changed", fields }, { ...about, change: "added", row: {} })).toBe(
      [
        "\nmodel",
        "  changed   One  m/1/",
        "            bra_count  1 → null",
        "            manufacturer_stock_pictures",
        '              + {"url":"x","text":null}',
        "  added     One  m/1/\n",
      ].join("\n"),
    );
  });

  it("a change as text has a line for each of two values that do not fit one, wrapped and uncut", () => {
    const fields = [
      { field: "logo", before: `https://pictures.example/${"1".repeat(30)}`, after: "2".repeat(30) },
      { field: "name", before: "レース ".repeat(20).trim(), after: "Lace" },
    ];
    expect(
      describeAll({ ...about, name: "ブラ", change: "changed", fields })
        .split("\n")
        .slice(2),
    ).toEqual([
      "  changed   ブラ  m/1/",
      "            logo",
      `              - https://pictures.example/${"1".repeat(30)}`,
      `              + ${"2".repeat(30)}`,
      "            name",
      `              - ${"レース ".repeat(9).trim()}`,
      `                ${"レース ".repeat(9).trim()}`,
      "                レース レース",
      "              + Lace",
      "",
    ]);
  });

  it("a change as text shows added and removed entries of a list uncut and with repetitions, or a change of order", () => {
    const entry = (text: string) => ({ url: "https://pictures.example/".repeat(6), text });
    const [a, b, c] = ["a", "b", "c"].map(entry);
    if (a === undefined || b === undefined || c === undefined) throw new Error("there are three");
    const list = (before: readonly (typeof a)[], after: readonly (typeof a)[]) =>
      describeAll({ ...about, change: "changed", fields: [{ field: "pictures", before, after }] })
        .split("\n")
        .slice(4, -1);
    const lines = (sign: string, { url, text }: typeof a) => [
      `              ${sign} {"url":"${url}",`,
      `                "text":"${text}"}`,
    ];
    expect(list([a, b, b], [c, b])).toEqual([...lines("-", a), ...lines("-", b), ...lines("+", c)]);
    expect(list([a, b], [b, a])).toEqual(["              the same entries in another order"]);
  });

  it("a change as text breaks no word, and no line without a terminal", () => {
    const href = `https://a.example/${"m/".repeat(40)}`;
    const path = "m/".repeat(40);
    const change: Keyed<Change> = {
      ...{ ...about, href, name: "x".repeat(40), change: "changed" },
      fields: [{ field: "logo", before: "1".repeat(90), after: "2".repeat(90) }],
    };
    expect(describeAll(change).split("\n")[3]).toBe(`            ${path}`);
    expect(textOf(changeFormatter({ to }, null)(change))).toBe(
      `\nmodel\n  changed   ${"x".repeat(40)}  ${path}\n            logo  ${"1".repeat(90)} → ${"2".repeat(90)}\n`,
    );
    const lines = changeFormatter({ to }, 60)(change).map(({ text }) => text);
    expect(lines.filter((line) => displayWidth(line) > 60)).toEqual([
      `            ${path}`,
      `              - ${"1".repeat(90)}`,
      `              + ${"2".repeat(90)}`,
    ]);
  });

  it("a change as text escapes control characters", () => {
    const fields = [{ field: "name", before: "\u001b[2Jgone\u202e", after: "\u0007\ud800\n" }];
    const text = describeAll({
      ...about,
      name: "\u001b]0;title\u0007x",
      href: "\u009b1m",
      change: "changed",
      fields,
    });
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
  });

  it("a change as text shows when an added resource was gone", () => {
    expect(
      describeAll({ ...about, change: "added", row: { gone_at: "2026-01-01T02:03:04.567Z" } }),
    ).toContain("\n            gone since 2026-01-01 02:03:04 UTC\n");
  });

  it("the text of a diff lists totals in a fixed order, or states that there are none", () => {
    expect(formatTotals({ size: { touched: 1, removed: 2, added: 3 } }, false)).toBe(
      "\nsize: 3 added, 2 removed, 1 touched (only last_modified_at)\n",
    );
    expect([formatTotals({}, false), formatTotals({}, true)]).toEqual(["No differences.\n", "No changes.\n"]);
  });
});

describe("CSV", () => {
  it("a change as CSV has every value of an added or removed resource, and the time of a tombstone", () => {
    const row = { href: about.href, name: "One", slug: null, bra_count: 2n, gone_at: null };
    const start = ["model", "maker/one", about.href, null, null, "One"];
    const keyed = { ...about, key: "maker/one" };
    expect(rowsOf({ ...keyed, change: "added", row })).toEqual([
      [...start, "added", "name", null, "One"],
      [...start, "added", "bra_count", null, 2n],
    ]);
    const removed = [
      [...start, "removed", "name", "One", null],
      [...start, "removed", "bra_count", 2n, null],
    ];
    expect(rowsOf({ ...keyed, change: "removed", isTombstone: false, row, fields: [] })).toEqual(removed);
    const tombstone = { ...row, bra_count: 3n, gone_at: "then" };
    const fields = [{ field: "bra_count", before: 2n, after: 3n }];
    expect(rowsOf({ ...keyed, change: "removed", isTombstone: true, row: tombstone, fields })).toEqual([
      ...removed,
      [...start, "removed", "gone_at", null, "then"],
    ]);
  });

  it("a change as CSV has the former removal time of a revived resource", () => {
    expect(rowsOf({ ...about, change: "revived", goneAt: "then", row: {}, fields: [] })).toEqual([
      ["model", null, about.href, null, null, "One", "revived", "gone_at", "then", null],
    ]);
  });
});

it("JSON keeps every number exact", () => {
  expect(toJson([12345678901234567890n, -0, Number.POSITIVE_INFINITY, 0.5])).toBe(
    "[12345678901234567890,-0,1e999,0.5]",
  );
});
