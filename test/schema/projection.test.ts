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

  it.each(wrongTexts)("read %s as no rows, reported unless it is empty", (text) => {
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

  it("are empty where the field is missing", () => {
    expect(pictures(undefined)).toEqual({ rows: [], issues: [] });
    expect(labels(undefined)).toEqual({ rows: [], issues: [] });
  });

  it("keep every picture at its position, whatever is wrong with one of them", () => {
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

  it("keep every label, whatever is wrong with one of them", () => {
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

describe("the vendor's own word", () => {
  const withUrls = (urls: Record<string, unknown>) => {
    const golden = goldenEntity("brand");
    const { service_url: _neutral, ...rest } = golden.body;
    const { columns, issues } = projectCleanly(brand, { ...golden, body: { ...rest, ...urls } }, "other");
    return { url: columns.service_url, issues };
  };

  it("is reported at the field that the service sent", () => {
    expect(withUrls({ other_url: 12 })).toEqual({
      url: null,
      issues: [{ pointer: "/body/other_url", code: "wrong-type" }],
    });
  });

  it("gives way to the neutral word where both are there", () => {
    expect(withUrls({ other_url: "a", service_url: "b" })).toEqual({ url: "b", issues: [] });
    expect(withUrls({ other_url: "a", service_url: null })).toEqual({ url: "a", issues: [] });
    expect(withUrls({ other_url: null })).toEqual({ url: null, issues: [] });
  });

  it("is an unknown field where another name is set", () => {
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
