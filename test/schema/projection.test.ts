import { describe, expect, it } from "vitest";
import { bra } from "../../schema/entities/bra.ts";
import { brand } from "../../schema/entities/brand.ts";
import { model } from "../../schema/entities/model.ts";
import { size } from "../../schema/entities/size.ts";
import { user } from "../../schema/entities/user.ts";
import { goldenEntity, projectCleanly } from "./support/golden.ts";
import { jsonValue, wrongTexts } from "./support/wrong-values.ts";

describe("lists", () => {
  const pictures = (value: unknown) => {
    const golden = goldenEntity("model");
    golden.body.manufacturer_stock_pictures = value;
    const { lists, issues } = projectCleanly(model, golden);
    return { rows: lists[0]?.rows, issues };
  };
  const labels = (value: unknown) => {
    const golden = goldenEntity("bra");
    golden.body.multiple_sizes = value;
    const { lists, issues } = projectCleanly(bra, golden);
    return { rows: lists[0]?.rows, issues };
  };
  const wrongAt = (...pointers: string[]) => pointers.map((pointer) => ({ pointer, code: "wrong-type" }));

  it.each(wrongTexts)("a list field with %s gives no rows, and is reported unless it is empty", (text) => {
    const isPictures = text === "null" || text === "[]";
    expect(pictures(jsonValue(text))).toEqual({
      rows: [],
      issues: isPictures ? [] : wrongAt("/body/manufacturer_stock_pictures"),
    });
    if (text.startsWith('{"a"')) return;
    const isLabels = text === "null" || text === "{}";
    expect(labels(jsonValue(text))).toEqual({
      rows: [],
      issues: isLabels ? [] : wrongAt("/body/multiple_sizes"),
    });
  });

  it("a missing list field gives no rows", () => {
    expect(pictures(undefined)).toEqual({ rows: [], issues: [] });
    expect(labels(undefined)).toEqual({ rows: [], issues: [] });
  });

  it("every picture keeps its position if one of them is irregular", () => {
    const given = [
      { url: "a", text: "b" },
      12,
      { url: 1, text: "c" },
      {},
      { url: "d", text: null, width: 3 },
    ];
    expect(pictures(given)).toEqual({
      rows: [
        ["a", "b"],
        [null, null],
        [null, "c"],
        [null, null],
        ["d", null],
      ],
      issues: [
        ...wrongAt("/body/manufacturer_stock_pictures/1", "/body/manufacturer_stock_pictures/2/url"),
        { pointer: "/body/manufacturer_stock_pictures/4/width", code: "unknown-field" },
      ],
    });
  });

  it("every label is stored if one of them is irregular", () => {
    const given = jsonValue('{"UK":"30G","a/b":12,"EU":null,"__proto__":"65J","FR":1e400}');
    expect(labels(given)).toEqual({
      rows: [
        ["UK", "30G"],
        ["a/b", null],
        ["EU", null],
        ["__proto__", "65J"],
        ["FR", null],
      ],
      issues: wrongAt("/body/multiple_sizes/a~1b", "/body/multiple_sizes/FR"),
    });
  });
});

describe("the prefix in `<name>_url`", () => {
  const withUrls = (urls: Record<string, unknown>) => {
    const golden = goldenEntity("brand");
    const { service_url: _neutral, ...rest } = golden.body;
    const { columns, issues } = projectCleanly(brand, { ...golden, body: { ...rest, ...urls } }, "other");
    return { url: columns.service_url, issues };
  };

  it("a wrong value is reported at the field that the service sent", () => {
    expect(withUrls({ other_url: 12 })).toEqual({
      url: null,
      issues: [{ pointer: "/body/other_url", code: "wrong-type" }],
    });
  });

  it("service_url has precedence over the prefixed field", () => {
    expect(withUrls({ other_url: "a", service_url: "b" })).toEqual({ url: "b", issues: [] });
    expect(withUrls({ other_url: "a", service_url: null })).toEqual({ url: "a", issues: [] });
    expect(withUrls({ other_url: null })).toEqual({ url: null, issues: [] });
  });

  it("the name of another vendor is an unknown field", () => {
    const golden = goldenEntity("size");
    golden.body.other_url = "a";
    expect(projectCleanly(size, golden).issues).toEqual([
      { pointer: "/body/other_url", code: "unknown-field" },
    ]);
    const me = goldenEntity("me");
    me.body.other_url = "a";
    expect(projectCleanly(user, me, "third").issues).toEqual([
      { pointer: "/body/other_url", code: "unknown-field" },
    ]);
  });
});
