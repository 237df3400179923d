import { describe, expect, it } from "vitest";
import { NotAnEnvelopeError, UnexpectedRelError } from "../../schema/envelope.ts";
import { JsonError, parseJsonBytesOrThrow } from "../../schema/json.ts";
import { deriveHeldOrThrow, deriveOrThrow } from "../../src/mirror/derive/derive.ts";
import { context, derive, deriveGolden, linksOf, url, withItems } from "./support/derive-golden.ts";
import { api, goldenEntity, parseGolden } from "./support/golden.ts";

const comexim = `${api}/brands/comexim/`;
const sabrina = `${comexim}models/sabrina/`;
describe("the links of a body", () => {
  it("the root links to both areas and to the rate limit", () => {
    expect(linksOf(deriveGolden("root"))).toEqual([
      ["me", `${api}/me/`, "me", "own"],
      ["brands", `${api}/brands/`, "brands", "own"],
      ["rate_limit", `${api}/rate-limit/`, "rate_limit", "own"],
    ]);
  });

  it("a brand links to its models, and optionally to related brands", () => {
    expect(linksOf(deriveGolden("brand"))).toEqual([
      ["models", `${comexim}models/`, "models", "own"],
      ["related", `${comexim}related/`, "related_brands", "optional"],
    ]);
  });

  it("a model links to its brand and sizes, and optionally to kinds of relations of its own", () => {
    expect(linksOf(deriveGolden("model"))).toEqual([
      ["brand", comexim, "brand", "other"],
      ["same_cut", `${sabrina}same-cut/`, "same_cut_models", "optional"],
      ["related", `${sabrina}related/`, "related_models", "optional"],
      ["sizes", `${sabrina}sizes/`, "sizes", "own"],
    ]);
  });

  it("a size and a bra link to the entities that they belong to", () => {
    expect(linksOf(deriveGolden("size"))).toEqual([
      ["model", sabrina, "model", "other"],
      ["adjacent_sizes", `${sabrina}sizes/65HH/adjacent/`, "adjacent_sizes", "optional"],
    ]);
    expect(linksOf(deriveGolden("bra"))).toEqual([
      ["size", `${sabrina}sizes/65HH/`, "size", "other"],
      ["model", sabrina, "model", "other"],
      ["brand", comexim, "brand", "other"],
    ]);
  });

  it("a user links to the resources that the token's scopes grant", () => {
    expect(linksOf(deriveGolden("me"))).toEqual([
      ["bras", `${api}/me/bras/`, "bras", "own"],
      ["measurements", `${api}/me/measurements/`, "measurements", "own"],
    ]);
    const without = deriveGolden("me-without-scopes", "me");
    expect({ links: without.links, issues: without.issues }).toEqual({ links: [], issues: [] });
  });

  it("a body has the rows of its kind, and none if the kind has none", () => {
    expect(deriveGolden("brand").projection?.row?.table).toBe("brand");
    expect(deriveGolden("measurements").projection?.lists[0]?.rows).toHaveLength(2);
    expect(deriveGolden("brands").projection).toBeNull();
    expect(deriveGolden("rate-limit", "rate_limit").projection).toBeNull();
    expect(deriveGolden("brand", "?sizing").projection).toBeNull();
  });
});

describe("the items of a collection", () => {
  it.each([
    ["brands", "brands", "brand", true],
    ["models", "models", "model", true],
    ["sizes", "sizes", "size", true],
    ["bras", "bras", "bra", true],
    ["measurements-linked", "measurements", "measurement", true],
    ["related", "related_brands", "brand", false],
    ["same-cut", "same_cut_models", "model", false],
    ["same-cut", "?matching", "?matching.item", false],
  ] as const)("the items of %s.json as %s are of kind %s", (file, kind, itemKind, owned) => {
    const { items, issues } = deriveGolden(file, kind);
    const { collection } = parseGolden(file).value as { collection: { href: string }[] };
    expect(items?.map((item) => [item.url, item.kind, item.owned])).toEqual(
      collection.map(({ href }) => [href, itemKind, owned]),
    );
    expect(items?.every(({ name }) => typeof name === "string")).toBe(true);
    expect(issues.filter(({ code }) => code !== "unknown-link")).toEqual([]);
  });

  it("an entity has no items", () => {
    expect(deriveGolden("brand").items).toBeNull();
    expect(deriveGolden("root").items).toBeNull();
    expect(withItems([]).items).toEqual([]);
  });

  it("items keep their positions if one of them is irregular", () => {
    const given = [
      { href: "/a", name: "A" },
      12,
      { name: "B" },
      { href: 3 },
      { href: "https://evil.example/" },
    ];
    const { items, issues } = withItems([...given, { href: "/c", name: 4 }]);
    const of = (to: string | null, name: string | null) => ({ url: to, name, kind: "brand", owned: true });
    expect(items).toEqual([
      of("https://api.example/a", "A"),
      of(null, null),
      of(null, "B"),
      of(null, null),
      of(null, null),
      of("https://api.example/c", null),
    ]);
    expect(issues.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
      "/collection/1 item-without-href",
      "/collection/1 wrong-type",
      "/collection/2 item-without-href",
      "/collection/3 item-without-href",
      "/collection/3/href wrong-type",
      "/collection/4/href skipped-link",
      "/collection/5/name wrong-type",
    ]);
  });

  it("complete items may have no address", () => {
    expect(deriveGolden("measurements").issues).toEqual([]);
    expect(deriveGolden("measurements").items?.map((item) => item.url)).toEqual([null, null]);
  });
});

describe("an unexpected body", () => {
  it.each([
    ["brands", "brand"],
    ["brand", "brands"],
    ["root", "me"],
    ["me", "root"],
  ])("%s.json is refused as a %s because of its rel", (file, kind) => {
    expect(() => deriveGolden(file, kind)).toThrow(UnexpectedRelError);
  });

  it("a body that is not an envelope is refused", () => {
    expect(() => deriveGolden("not-authenticated", "me")).toThrow(NotAnEnvelopeError);
    expect(() => derive([], "brand")).toThrow(NotAnEnvelopeError);
  });

  it("a body of unknown kind is accepted with any rel", () => {
    for (const file of ["root", "brand", "brands"]) expect(() => deriveGolden(file, "?odd")).not.toThrow();
  });

  it("duplicate keys are reported", () => {
    const text = '{"rel":"entity","body":{"name":"a","name":"b"}}';
    const derived = deriveOrThrow(
      parseJsonBytesOrThrow(Buffer.from(text)),
      { baseUrl: url, kind: "brand" },
      context,
    );
    expect(derived.issues).toEqual([{ pointer: "", code: "duplicate-key" }]);
    expect(derived.projection?.row?.cells).toContain("b");
  });

  const envelope = (members: string) =>
    `{"rel":"entity","self":"/a","meta":{"next":null},"links":{"x":"/x"},"body":{}${members}}`;

  const list = (items: string) => `{"rel":"collection","links":{},"meta":{},"collection":[${items}]}`;

  it.each([
    ["/body", envelope(',"body":{"name":"b"}')],
    ["/body", envelope(',"\\u0062ody" : {}')],
    ["/rel", `{"rel":"collection",${envelope("").slice(1)}`],
    ["/self", envelope(',"self":"/b"')],
    ["/links", envelope(',"links":{}')],
    ["/meta", envelope(',"meta":null')],
    ["/collection", '{"rel":"collection","collection":[{}],"links":{},"collection":[]}'],
    ["/meta/next", envelope("").replace('"next"', '"next":"/2","next"')],
    ["/links/x", envelope("").replace('"x"', '"x":"/y","x"')],
    ["/collection/2/href", list('7,{"href":"/a"},{"href":"/b","name":"b","\\u0068ref":"/c"}')],
    ["/collection/1/href", list('[{"href":1,"href":2},3],{"href":"/b","href":"/b"}')],
  ])("a new body that states %s twice is refused, but one that is held is still read", (pointer, text) => {
    const body = Buffer.from(text);
    const resource = { baseUrl: url, kind: "?odd" };
    const refusal = `a single value expected at ${pointer}`;
    expect(() => deriveOrThrow(parseJsonBytesOrThrow(body), resource, context)).toThrow(refusal);
    expect(deriveHeldOrThrow(body, resource, context).issues).toContainEqual({
      pointer: "",
      code: "duplicate-key",
    });
  });

  it.each([
    '{"href":"/a","name":"a","name":"b"}',
    '{"href":"/a","brand":{"href":"/x","href":"/y"}}',
    '[{"href":"/a","href":"/b"}]',
    '{"href":"/a"},{"href":"/b"},{"n":1,"n":2}',
  ])("other repeated keys of items are reported: %s", (items) => {
    const parsed = parseJsonBytesOrThrow(Buffer.from(list(items)));
    const { issues } = deriveOrThrow(parsed, { baseUrl: url, kind: "?odd" }, context);
    expect(issues).toContainEqual({ pointer: "", code: "duplicate-key" });
  });

  it("other keys that are repeated are no reason to refuse a body", () => {
    const text = envelope(',"other":{"body":1,"body":2},"other":[{"links":1,"links":2}]').replace(
      '"body":{}',
      '"body":{"meta":{"next":1,"next":2},"rel":1,"rel":2}',
    );
    const parsed = parseJsonBytesOrThrow(Buffer.from(text));
    expect(parsed.hasDuplicateKeys).toBe(true);
    expect(() => deriveOrThrow(parsed, { baseUrl: url, kind: "?odd" }, context)).not.toThrow();
  });

  it("irregularities in envelope, links and fields are all reported", () => {
    const golden = goldenEntity("brand");
    const value = { ...golden, self: 1, links: { x: "/y" }, body: { ...golden.body, slug: 2, extra: 3 } };
    expect(
      derive(value, "brand")
        .issues.map(({ pointer, code }) => `${pointer} ${code}`)
        .sort(),
    ).toEqual([
      "/body/extra unknown-field",
      "/body/slug wrong-type",
      "/links/x unknown-link",
      "/self wrong-type",
    ]);
  });
});

describe("the bytes of a body", () => {
  const codeOf = (bytes: Uint8Array): string => {
    try {
      parseJsonBytesOrThrow(bytes);
    } catch (error) {
      if (error instanceof JsonError) return error.code;
      throw error;
    }
    return "parsed";
  };

  it("one byte order mark at the beginning is accepted", () => {
    expect(codeOf(Buffer.from("\ufeff{}"))).toBe("parsed");
    expect(codeOf(Buffer.from("\ufeff\ufeff{}"))).toBe("not-json");
  });

  it("bytes that are not UTF-8 are refused", () => {
    expect(codeOf(Buffer.from([0x22, 0xff, 0x22]))).toBe("not-json");
    expect(codeOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe("not-json");
    expect(codeOf(Buffer.from('"a"', "utf16le"))).toBe("not-json");
  });
});
