import { describe, expect, it } from "vitest";
import { NotAnEnvelopeError, readEnvelopeOrThrow } from "../../schema/envelope.ts";
import { limits } from "../../schema/input/limits.ts";
import { exactNumber, parseJsonOrThrow } from "../../schema/json.ts";
import { derive } from "./support/derive-golden.ts";

const collection = (items: readonly unknown[], more: object = {}) => ({
  rel: "collection",
  spec: null,
  links: {},
  meta: {},
  collection: items,
  ...more,
});
const items = (count: number, item: unknown = {}) => Array.from({ length: count }, () => item);

describe("the limits of a body", () => {
  it("a page with too many items is refused", () => {
    expect(readEnvelopeOrThrow(collection(items(limits.itemsPerPage))).envelope.items).toHaveLength(20_000);
    expect(() => readEnvelopeOrThrow(collection(items(limits.itemsPerPage + 1)))).toThrow(
      "at most 20000 items expected at /collection",
    );
  });

  it("a body with too many links is refused", () => {
    const links = Object.fromEntries(items(limits.linksPerBody + 1).map((_, n) => [`link${n}`, "/"]));
    expect(() => readEnvelopeOrThrow(collection([], { links }))).toThrow(NotAnEnvelopeError);
  });

  it("the first issues of a body are kept, and the others counted", () => {
    const { issues } = derive(collection(items(5_000, 7)), "brands");
    expect(issues).toHaveLength(limits.issuesPerBody + 1);
    expect(issues.at(-1)).toEqual({ pointer: "", code: "more-issues", detail: "9000 more" });
  });

  it("the issues of a page's size and next page are kept among any number of others", () => {
    const unknown = Object.fromEntries(items(5_000).map((_, n) => [`field ${n}`, n]));
    const meta = { next: "https://elsewhere.example/", collection_total: "many" };
    const { issues } = derive({ ...collection([]), ...unknown, meta }, "brands");
    expect(issues.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(["/meta/collection_total", "/meta/next"]),
    );
  });

  it("a long pointer is cut", () => {
    const { issues } = derive(collection([], { ["x".repeat(1e6)]: 1 }), "brands");
    expect(issues.map(({ pointer }) => pointer.length)).toEqual([limits.pointerLength + 1]);
  });

  it("a list with too many rows is no list", () => {
    const pictures = items(limits.rowsPerList + 1, { url: "/a.png" });
    const body = { manufacturer_stock_pictures: pictures };
    const { projection, issues } = derive({ rel: "entity", links: {}, meta: {}, body }, "model");
    expect(projection?.lists).toEqual([{ table: "model_picture", rows: [] }]);
    expect(issues).toContainEqual({ pointer: "/body/manufacturer_stock_pictures", code: "wrong-type" });
  });

  it("a document with too many values is refused before it is parsed", () => {
    const document = (count: number) => `[${items(count, "[]")}]`;
    expect(parseJsonOrThrow(document(140_000)).value).toHaveLength(140_000);
    expect(() => parseJsonOrThrow(document(600_000))).toThrow("holds more than 300000 values");
    expect(() => parseJsonOrThrow("[1,2,3]", { maxValues: 3 })).toThrow("holds more than 3 values");
    expect(parseJsonOrThrow('["1,2,3,4,5,6"]', { maxValues: 3 }).value).toEqual(["1,2,3,4,5,6"]);
  });

  it("a number with too many digits stays as written", () => {
    expect(exactNumber(`1.5${"0".repeat(900)}`)).toBe(1.5);
    expect(exactNumber(`1.5${"0".repeat(limits.numeralLength)}`)).toBeNull();
  });
});
