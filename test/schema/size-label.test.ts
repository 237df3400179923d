/** The view of labels of sizes: their systems, bands, cups and the order of cups. */
import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import { type MemoryMirror, memoryMirror, readTable } from "./support/memory-mirror.ts";

let db: MemoryMirror;
beforeEach(async () => {
  db = await memoryMirror({ "u:brand": "brand", "u:model": "model", "u:size": "size" });
  db.exec("insert into _brand (id, name, default_sizing_system, from_run) values (1, 'Anita', 'UK', 1)");
  db.exec("insert into _model (id, brand_id, name, from_run) values (2, 1, 'Rosa', 1)");
});

function labelsOf(size: unknown, alternatives: unknown = null) {
  db.prepare("delete from _size").run();
  const json = typeof alternatives === "string" ? alternatives : alternatives && JSON.stringify(alternatives);
  db.prepare(
    "insert into _size (id, model_id, size, alternative_sizes, from_run) values (3, 2, ?, ?, 1)",
  ).run(size, json);
  return readTable(db, "size_label");
}

const systemsOf = (size: unknown, alternatives: unknown = null) =>
  labelsOf(size, alternatives).map(({ system, label, system_from }) => [system, label, system_from]);

const partsOf = (label: unknown) => {
  const [row] = labelsOf(label);
  return [row?.band, row?.cup, row?.cup_position];
};

it("each label of a size is a row with its system, band and cup", () => {
  expect(labelsOf("30FF", { EU: "65H", XX: "S" })).toEqual([
    {
      ...{ href: "u:size", model_href: "u:model", brand_href: "u:brand", system: "EU", label: "65H" },
      ...{ band: 65n, cup: "H", cup_position: 10n, system_from: "alternative" },
    },
    {
      ...{ href: "u:size", model_href: "u:model", brand_href: "u:brand", system: "XX", label: "S" },
      ...{ band: null, cup: null, cup_position: null, system_from: "alternative" },
    },
    {
      ...{ href: "u:size", model_href: "u:model", brand_href: "u:brand", system: "UK", label: "30FF" },
      ...{ band: 30n, cup: "FF", cup_position: 10n, system_from: "brand" },
    },
  ]);
});

it("the own label is in the brand's system, also if another system has the same label", () => {
  expect(systemsOf("32D", { US: "32D" })).toEqual([
    ["US", "32D", "alternative"],
    ["UK", "32D", "brand"],
  ]);
});

it("the alternative sizes decide before the brand's system", () => {
  expect(systemsOf("70D", { EU: "70D", uk: "32D" })).toEqual([
    ["EU", "70D", "alternative"],
    ["uk", "32D", "alternative"],
  ]);
  expect(systemsOf("32D", { UK: "32D" })).toEqual([["UK", "32D", "alternative"]]);
});

it("the system of an own label is null if nothing names it", () => {
  expect(systemsOf("70D", { UK: "32D" })).toEqual([
    ["UK", "32D", "alternative"],
    [null, "70D", null],
  ]);
  for (const unknown of ["null", "''", "' '"]) {
    db.exec(`update _brand set default_sizing_system = ${unknown}`);
    expect(systemsOf("70D", { EU: "70D" })).toEqual([["EU", "70D", "alternative"]]);
    expect(systemsOf("70D")).toEqual([[null, "70D", null]]);
  }
  db.exec("delete from _model");
  expect(systemsOf("70D")).toEqual([[null, "70D", null]]);
});

it.each<[unknown, unknown[]]>([
  ["65F", [65n, "F", 9n]],
  [" 30 ff ", [30n, "FF", 10n]],
  ["36DD/E", [36n, "DD/E", null]],
  ["36 D / DD", [36n, "D/DD", null]],
  ["8AA", [8n, "AA", 2n]],
  ["30I", [30n, "I", null]],
])("the label %j has a band and a cup", (label, parts) => {
  expect(partsOf(label)).toEqual(parts);
});

it.each([
  ...[
    "S",
    "75",
    "",
    " ",
    "F65",
    "32½B",
    "32.5B",
    "32-34B",
    "32/34B",
    "75Δ",
    "75Α",
    "0B",
    "012B",
    "1234B",
    "+75B",
  ],
  ...[
    "36SMALL",
    "36DD/",
    "36/E",
    "36DD//E",
    "36D/DD/E",
    "75B C",
    "75B1",
    "75B½",
    "７５B",
    75,
    null,
    Buffer.from("75B"),
  ],
])("the label %j has neither band nor cup", (label) => {
  expect(partsOf(label).filter((part) => part !== null && part !== undefined)).toEqual([]);
});

it("cups have the order of their system", () => {
  const order = (system: string) =>
    readTable(db, "cup_order")
      .filter((row) => row.system === system)
      .map(({ cup, position }) => `${cup} ${position}`);
  expect(order("UK").slice(4, 12)).toEqual(["C 5", "D 6", "DD 7", "E 8", "F 9", "FF 10", "G 11", "GG 12"]);
  expect(order("US").slice(5, 10)).toEqual(["D 6", "DD 7", "E 7", "DD/E 7", "DDD 8"]);
  expect(order("FR").slice(5, 9)).toEqual(["D 6", "E 7", "F 8", "G 9"]);
  const keys = readTable(db, "cup_order").map(({ system, cup }) => `${system} ${cup}`);
  expect(new Set(keys).size).toBe(keys.length);
});

it("the sizes of a range are one condition", () => {
  db.exec(
    "insert into _resource (id, url, kind, state, first_run) select value, 'u:' || value, 'size', 'held', 1 from json_each('[11,12,13,14,15]')",
  );
  db.exec(`insert into _size (id, model_id, size, from_run) values
    (11, 2, '28H', 1), (12, 2, '30GG', 1), (13, 2, '30HH', 1), (14, 2, '32K', 1), (15, 2, '30J', 1)`);
  db.exec("update _resource set state = 'gone', gone_run = 1 where id = 15");
  const found = db
    .prepare(
      `select label from size_label where system = 'UK' and band between 28 and 30
       and cup_position >= (select position from cup_order where system = 'UK' and cup = 'H') order by label`,
    )
    .pluck()
    .all();
  expect(found).toEqual(["28H", "30HH"]);
});

it("no label or alternative sizes make the view fail", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.integer()), fc.jsonValue(), (label, value) => {
      const rows = labelsOf(typeof label === "string" ? label.toWellFormed() : label, JSON.stringify(value));
      for (const { band, cup } of rows) expect(band === null).toBe(cup === null);
    }),
  );
  expect(systemsOf("32D", "[".repeat(1001))).toEqual([["UK", "32D", "brand"]]);
  expect(systemsOf("32D", '["32D", {"UK": "32D"}]')).toEqual([["UK", "32D", "brand"]]);
  expect(systemsOf("32D", { UK: null, US: 5 })).toEqual([["UK", "32D", "brand"]]);
});
