import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import { deriveOrThrow } from "../../src/mirror/derive/derive.ts";
import { prepareTypedRows, type ReferenceIds, type TypedRows } from "../../src/mirror/rows/typed-rows.ts";
import { anyNumeral, anyText } from "./support/arbitrary-json.ts";
import { api } from "./support/golden.ts";
import { type MemoryMirror, memoryMirror, readTable } from "./support/memory-mirror.ts";
import { jsonValue } from "./support/wrong-values.ts";

const urls = { brand: `${api}/b`, model: `${api}/m`, bra: `${api}/r`, measurement: `${api}/n` };
const ids = { brand: 1, model: 2, bra: 3, measurement: 4 };
const noReferences: ReferenceIds = (entity) => entity.references.map(() => null);

const hardTexts = [
  "",
  "\0",
  "a\0b\0",
  "\ud800",
  "\udc00\ud800",
  "half \ud83d of an emoji",
  "👩‍👩‍👧‍👦 🏳️‍🌈",
  "שלום \u202eabc\u202c العربية",
  "e\u0301 is not é",
  "\u0f40\u0f90\u0fb5",
  "\ufeff\ufffe\uffff\u{10ffff}",
  "line\r\nline\u2028\u2029\u0085",
  "x'00' -- \\ \"; drop table _brand",
  "𝕎".repeat(5000),
];

describe("storing a value from the bytes of a body in a column", () => {
  let db: MemoryMirror;
  let typedRows: TypedRows;
  beforeAll(async () => {
    db = await memoryMirror(Object.fromEntries(Object.entries(urls).map(([kind, url]) => [url, kind])));
    typedRows = prepareTypedRows(db);
  });

  /** Stores the envelope of an entity as ingest does. */
  const store = (kind: keyof typeof ids, bodyText: string): void => {
    const body = Buffer.from(`{"rel":"entity","body":${bodyText}}`);
    const context = { kinds, origin: new URL(api).origin, serviceName: "service" };
    const { projection } = deriveOrThrow(parseJsonBytesOrThrow(body), { baseUrl: urls[kind], kind }, context);
    if (projection === null) throw new Error(`a ${kind} has no rows`);
    typedRows.write({ id: ids[kind], isKnown: true }, projection, noReferences, 1);
    expect(typedRows.read(ids[kind])).toEqual(typedRows.expected(ids[kind], projection, noReferences));
  };

  const expectSame = (text: string): void => {
    // Once V8 has parsed a key with a backslash, it may read a later one as that one (nodejs/node#63785).
    const key = text.replaceAll("\\", "/");
    store("brand", JSON.stringify({ name: text, twitter: text, facebook: { [key]: [text] } }));
    const [brand] = readTable(db, "brand");
    expect(brand?.name).toBe(text);
    expect(brand?.twitter).toBe(text);
    expect(jsonValue(String(brand?.facebook))).toEqual({ [key]: [text] });

    store("model", JSON.stringify({ manufacturer_stock_pictures: [{ url: text, text }, { text }] }));
    expect(readTable(db, "model_picture").map(({ url, text: label }) => [url, label])).toEqual([
      [text, text],
      [null, text],
    ]);

    store("bra", JSON.stringify({ note: text, multiple_sizes: { [key]: text } }));
    expect(readTable(db, "bra")[0]?.note).toBe(text);
    expect(readTable(db, "bra_size").map(({ system, size }) => [system, size])).toEqual([[key, text]]);

    store("measurement", JSON.stringify({ [key]: text }));
    expect(jsonValue(String(readTable(db, "measurement")[0]?.payload))).toEqual({ [key]: text });
  };

  it.each(hardTexts)("a column keeps the text %j", (text) => {
    expectSame(text);
  });

  it("a column keeps any text", () => {
    fc.assert(fc.property(anyText, expectSame), { numRuns: 300 });
  });

  it("a column keeps unescaped text, and NUL written as an escape", () => {
    store("brand", '{"name":"żółć 😀 שלום","slug":"\\u0000\\ud800\\u0061"}');
    expect(readTable(db, "brand")[0]).toMatchObject({ name: "żółć 😀 שלום", slug: "\0\ud800a" });
  });

  it("any number stays exact, in a column and within a document", () => {
    fc.assert(
      fc.property(anyNumeral, (numeral) => {
        store("bra", `{"hooks":${numeral},"strap_width":${numeral}}`);
        const [bra] = readTable(db, "bra");
        const value = jsonValue(numeral);
        expect(bra?.strap_width).toBe(typeof value === "number" ? value : numeral);
        if (/^(0|-?[1-9]\d*)$/.test(numeral)) expect(String(bra?.hooks)).toBe(numeral);

        store("measurement", `{"bust":${numeral}}`);
        expect(readTable(db, "measurement")[0]?.payload).toBe(JSON.stringify({ bust: value }));
      }),
      { numRuns: 300 },
    );
  });

  it("columns have types that sort correctly", () => {
    store("bra", '{"hooks":3,"band_length":57.0,"is_owned":true,"cup_depth":9007199254740993}');
    const types = db.prepare(
      "select typeof(hooks), typeof(band_length), typeof(is_owned), typeof(cup_depth), typeof(note) from bra",
    );
    expect(types.raw().get()).toEqual(["integer", "real", "integer", "text", "null"]);
  });
});
