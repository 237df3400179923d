import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Cell } from "../../schema/fields.ts";
import { compareKinds } from "../../src/change/compared-kinds.ts";
import { type ComparedState, compareStates, diff } from "../../src/change/diff.ts";
import type { StateTable } from "../../src/change/items.ts";
import { compareText } from "../../src/platform/text/compare-text.ts";
import { rowsOfState } from "./support/apply.ts";

function stateOf(tables: Readonly<Record<string, readonly (readonly Cell[])[]>>): ComparedState {
  const read = ([name, [columns = [], ...rows]]: [string, readonly (readonly Cell[])[]]): StateTable => ({
    ...{ name, columns: columns.map(String), rows: () => rows },
  });
  return { isTyped: true, tables: Object.entries(tables).map(read) };
}

it("compareText orders text by code points, as SQLite does", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (first, second) => {
      const [a, b] = [first, second].map((text) => Buffer.from(text));
      expect(Math.sign(compareText(first, second))).toBe(Buffer.compare(a ?? Buffer.of(), b ?? Buffer.of()));
    }),
  );
});

it("a resource is never touched if one state has only some of its fields", () => {
  const pictures = [
    ["model_href", "n", "url", "text"],
    ["a", 0, "x", null],
  ] as const;
  const model = (at: string) =>
    [
      ["href", "last_modified_at"],
      ["a", at],
    ] as const;
  const [before, after] = ["2026", "2027"].map((at) => model(at));
  const changeOf = (first: Parameters<typeof stateOf>[0], second: Parameters<typeof stateOf>[0]) =>
    [...diff(compareStates(stateOf(first), stateOf(second)))].map(({ change }) => change);
  if (before === undefined || after === undefined) throw new Error("there are two");
  const [was, is] = [
    { model: before, model_picture: pictures },
    { model: after, model_picture: pictures },
  ];
  expect(changeOf(was, is)).toEqual(["touched"]);
  expect(changeOf({ model: before }, is)).toEqual(["changed"]);
  expect(changeOf({ model: before }, { model: after })).toEqual(["changed"]);
  const withName = [
    ["href", "last_modified_at", "name"],
    ["a", "2027", "A"],
  ] as const;
  expect(changeOf(was, { model: withName, model_picture: pictures })).toEqual(["changed"]);
});

describe("rows", () => {
  it("the rows of a state have the lists of a resource as fields, without lists of unknown resources", () => {
    const state = stateOf({
      model: [
        ["href", "name", "gone_at"],
        ["b", "B", null],
        ["d", "D", "then"],
      ],
      model_picture: [
        ["model_href", "n", "url", "text"],
        ["a", 0, "x", null],
        ["b", 0, "y", null],
        ["b", 1, "z", "Z"],
      ],
    });
    expect([...rowsOfState(state).values()]).toEqual([
      {
        ...{ href: "b", name: "B", gone_at: null },
        manufacturer_stock_pictures: [
          { url: "y", text: null },
          { url: "z", text: "Z" },
        ],
      },
      { href: "d", name: "D", manufacturer_stock_pictures: [], gone_at: "then" },
    ]);
  });

  it("the rows of an account's state have the measurements of a collection as one list", () => {
    const columns = ["href", "n", "payload"];
    const before = stateOf({ measurement: [columns, ["a", 0, "{}"]] });
    const after = stateOf({ measurement: [columns, ["a", 0, "{}"], ["a", 1, "[]"], ["b", 0, "1"]] });
    expect([...diff(compareStates(before, after))]).toEqual([
      {
        ...{ kind: "measurement", href: "a", name: null, change: "changed" },
        fields: [
          {
            field: "measurements",
            before: [{ payload: "{}" }],
            after: [{ payload: "{}" }, { payload: "[]" }],
          },
        ],
      },
      {
        ...{ kind: "measurement", href: "b", name: null, change: "added" },
        row: { href: "b", measurements: [{ payload: "1" }] },
      },
    ]);
  });
});

describe("different tables or columns", () => {
  it("a table or column that only one state has is reported but not compared, since an export may leave it out", () => {
    const first = stateOf({
      brand: [
        ["href", "name", "gone_at"],
        ["a", "A", null],
      ],
    });
    const second = stateOf({
      brand: [
        ["href", "slug", "gone_at"],
        ["a", "s", null],
      ],
      model: [["href"], ["m"]],
    });
    expect(compareKinds(first.tables, second.tables).notCompared).toEqual([
      "brand.name",
      "brand.slug",
      "model",
    ]);
    expect([...diff(compareStates(first, second))]).toEqual([]);
  });

  it("a table or column that only one state has is refused if the states have no table in common", () => {
    expect(() => compareStates(stateOf({ brand: [["href"]] }), stateOf({ bra: [["href"]] }))).toThrow(
      "The two have no table in common: brand; bra.",
    );
  });
});
