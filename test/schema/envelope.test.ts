import { describe, expect, it } from "vitest";
import { type FieldIssue, NotAnEnvelopeError, readEnvelopeOrThrow } from "../../schema/envelope.ts";
import { braSummary, namedSummary, openSummary, readSummary } from "../../schema/summaries.ts";
import { goldenEntity, parseGolden } from "./support/golden.ts";
import { jsonValue, type WrongText, wrongTexts } from "./support/wrong-values.ts";

const read = (change: (golden: Record<string, unknown>) => void, file = "brand") => {
  const golden = goldenEntity(file) as Record<string, unknown>;
  change(golden);
  return readEnvelopeOrThrow(golden);
};
const wrongType = (pointer: string) => ({ pointer, code: "wrong-type" });

const url: Partial<Record<WrongText, unknown>> = { null: null, '"text"': "text", '"12"': "12" };
const count: typeof url = { null: null, "12": 12, '"12"': 12 };
const flag: typeof url = { null: null, true: true };
const metaFields = [
  { name: "welcome", key: "welcome", readings: url },
  { name: "collection", key: "collection", readings: url },
  { name: "next", key: "next", readings: url },
  { name: "prev", key: "prev", readings: url },
  { name: "current", key: "current", readings: url },
  { name: "paginated", key: "paginated", readings: flag },
  { name: "page_total", key: "pageTotal", readings: count },
  { name: "collection_total", key: "collectionTotal", readings: count },
] as const;

describe("irregular envelopes", () => {
  it.each(["self", "spec"] as const)(
    "an irregular envelope is read if its %s is wrong, missing or null",
    (name) => {
      const intact = read(() => {}).envelope;
      for (const text of wrongTexts) {
        const { envelope, issues } = read((golden) => {
          golden[name] = jsonValue(text);
        });
        expect(envelope).toEqual({ ...intact, [name]: url[text] ?? null });
        expect(issues).toEqual(Object.hasOwn(url, text) ? [] : [wrongType(`/${name}`)]);
      }
      const { envelope, issues } = read((golden) => delete golden[name]);
      expect({ envelope, issues }).toEqual({ envelope: { ...intact, [name]: null }, issues: [] });
    },
  );

  it.each(metaFields)(
    "an irregular envelope is read if meta.$name is wrong or missing",
    ({ name, key, readings }) => {
      const intact = read(() => {}, "brands").envelope;
      for (const text of wrongTexts) {
        const { envelope, issues } = read((golden) => {
          golden.meta = { ...(golden.meta as object), [name]: jsonValue(text) };
        }, "brands");
        expect(envelope).toEqual({ ...intact, meta: { ...intact.meta, [key]: readings[text] ?? null } });
        expect(issues).toEqual(Object.hasOwn(readings, text) ? [] : [wrongType(`/meta/${name}`)]);
      }
      const { envelope } = read((golden) => {
        const { [name]: _left, ...rest } = golden.meta as Record<string, unknown>;
        golden.meta = rest;
      }, "brands");
      expect(envelope).toEqual({ ...intact, meta: { ...intact.meta, [key]: null } });
    },
  );

  it.each(["links", "meta"])(
    "an irregular envelope is read if its %s are of a wrong type, null, empty or missing",
    (name) => {
      for (const text of ["true", "12", '"text"', "[]", "1e400"]) {
        const { envelope, issues } = read((golden) => {
          golden[name] = jsonValue(text);
        });
        expect(issues).toEqual([wrongType(`/${name}`)]);
        expect(Object.values(envelope[name as "links"]).filter((value) => value !== null)).toEqual([]);
        expect(envelope.body).toEqual(goldenEntity("brand").body);
      }
      for (const value of [null, {}, undefined]) {
        expect(
          read((golden) => {
            golden[name] = value;
          }).issues,
        ).toEqual([]);
      }
    },
  );

  it("text links and null links are read, and any other is reported", () => {
    const { envelope, issues } = read((golden) => {
      golden.links = jsonValue(
        '{"models":"a","bras":null,"n":12,"deep/er":{"href":"b"},"list":["c"],"big":1e400,"__proto__":"d","constructor":"e"}',
      );
    });
    expect(Object.entries(envelope.links)).toEqual([
      ["models", "a"],
      ["bras", null],
      ["__proto__", "d"],
      ["constructor", "e"],
    ]);
    expect(issues).toEqual(["/links/n", "/links/deep~1er", "/links/list", "/links/big"].map(wrongType));
  });

  it("members of every object are not links", () => {
    const { envelope } = read((golden) => {
      golden.links = {};
    });
    expect(envelope.links.constructor).toBeUndefined();
    expect(envelope.links.toString).toBeUndefined();
  });

  it("an entity's collection is read from the top level if meta lacks it", () => {
    const withTop = (meta: unknown, collection: unknown) =>
      read((golden) => Object.assign(golden, { meta, collection }));
    expect(withTop({}, "top").envelope.meta.collection).toBe("top");
    expect(withTop({ collection: null }, "top").envelope.meta.collection).toBe("top");
    expect(withTop({ collection: "inner" }, "top").envelope.meta.collection).toBe("inner");
    const wrong = withTop({}, ["top"]);
    expect(wrong.envelope.meta.collection).toBeNull();
    expect(wrong.envelope.items).toEqual([]);
    expect(wrong.issues).toEqual([wrongType("/collection")]);
  });

  it("unknown fields at the top and in meta are reported", () => {
    const { issues } = read((golden) => {
      Object.assign(golden, { warning: "soon", meta: { collection: null, "seen/at": 1 } });
    });
    expect(issues).toEqual([
      { pointer: "/warning", code: "unknown-field" },
      { pointer: "/meta/seen~1at", code: "unknown-field" },
    ]);
    const list = read((golden) => Object.assign(golden, { body: {} }), "brands");
    expect(list.issues).toEqual([{ pointer: "/body", code: "unknown-field" }]);
  });

  it("a root with a body of a wrong type is read, since it needs none", () => {
    const { envelope, issues } = read((golden) => Object.assign(golden, { body: [1] }), "root");
    expect(envelope.body).toBeNull();
    expect(Object.keys(envelope.links)).toEqual(["me", "brands", "rate_limit"]);
    expect(issues).toEqual([wrongType("/body")]);
  });

  it("every item of a collection keeps its position", () => {
    const { envelope, issues } = read((golden) => {
      golden.collection = jsonValue('[{"href":"a"},null,12,"b",["c"],1e400,{"href":"d"}]');
    }, "brands");
    expect(envelope.items).toEqual([{ href: "a" }, {}, {}, {}, {}, {}, { href: "d" }]);
    expect(issues).toEqual([1, 2, 3, 4, 5].map((index) => wrongType(`/collection/${index}`)));
  });

  it.each(["-1", "0", "683.0", "9007199254740991"])("%s is read as a collection's total", (text) => {
    const { envelope, issues } = read((golden) => {
      golden.meta = { collection_total: jsonValue(text) };
    }, "brands");
    expect(envelope.meta.collectionTotal).toBe(Number(text));
    expect(issues).toEqual([]);
  });

  it.each(["12.5", "9007199254740993", '"-1"', '"many"', '""', '"12345678901234567890"'])(
    "%s is reported as a wrong total of a collection",
    (text) => {
      const { envelope, issues } = read((golden) => {
        golden.meta = { collection_total: jsonValue(text) };
      }, "brands");
      expect(envelope.meta.collectionTotal).toBeNull();
      expect(issues).toEqual([wrongType("/meta/collection_total")]);
    },
  );
});

describe("irregular summaries", () => {
  const summarise = (summary: typeof namedSummary, text: string) => {
    const issues: FieldIssue[] = [];
    const item = jsonValue(text) as Record<string, unknown>;
    return { ...readSummary(summary, item, "/collection/7", issues), issues };
  };

  it("an irregular summary gives the address of its item if another field is wrong", () => {
    expect(summarise(namedSummary, '{"href":"a","name":12,"service_url":{}}')).toEqual({
      href: "a",
      name: null,
      issues: [wrongType("/collection/7/service_url"), wrongType("/collection/7/name")],
    });
    expect(summarise(braSummary, '{"href":"a","name":"b","brand":{"href":3,"name":"c"},"size":[]}')).toEqual({
      href: "a",
      name: "b",
      issues: [wrongType("/collection/7/brand/href"), wrongType("/collection/7/size")],
    });
  });

  it("an irregular summary gives no address if its href is wrong, missing or null", () => {
    expect(summarise(namedSummary, '{"href":{"to":"a"},"name":"b"}')).toEqual({
      href: null,
      name: "b",
      issues: [wrongType("/collection/7/href")],
    });
    expect(summarise(namedSummary, '{"name":"b"}')).toEqual({ href: null, name: "b", issues: [] });
    expect(summarise(openSummary, '{"href":null}')).toEqual({ href: null, name: null, issues: [] });
  });
});

describe("invalid bodies", () => {
  const refusal = (value: unknown): { pointer: string; message: string } => {
    try {
      readEnvelopeOrThrow(value);
    } catch (error) {
      if (error instanceof NotAnEnvelopeError) return { pointer: error.pointer, message: error.message };
      throw error;
    }
    throw new Error("it was taken for an envelope");
  };

  it.each(["null", "true", "12", '"text"', "[]", '[{"rel":"entity","body":{}}]', "1e400"])(
    "a body that is not an envelope is refused at the top: %s",
    (text) => {
      expect(refusal(jsonValue(text))).toEqual({
        pointer: "",
        message: "not an envelope: an object expected at the top",
      });
    },
  );

  it.each([
    "{}",
    '{"rel":"list"}',
    '{"rel":null}',
    '{"rel":["entity"],"body":{}}',
    '{"__proto__":{"rel":"resource"}}',
  ])("a body that is not an envelope is refused at its rel: %s", (text) => {
    expect(refusal(jsonValue(text))).toEqual({
      pointer: "/rel",
      message: "not an envelope: one of resource, entity, collection expected at /rel",
    });
  });

  it.each(["null", "true", "12", '"text"', "[]", "1e400"])(
    "a body that is not an envelope is refused at an entity's body: %s",
    (text) => {
      const message = "not an envelope: an object expected at /body";
      expect(refusal({ rel: "entity", body: jsonValue(text) })).toEqual({ pointer: "/body", message });
      expect(refusal({ rel: "entity" })).toEqual({ pointer: "/body", message });
    },
  );

  it.each(["null", "true", "12", '"text"', "{}", "1e400"])(
    "a body that is not an envelope is refused at a collection's items: %s",
    (text) => {
      const message = "not an envelope: an array expected at /collection";
      expect(refusal({ rel: "collection", collection: jsonValue(text) })).toEqual({
        pointer: "/collection",
        message,
      });
      expect(refusal({ rel: "collection" })).toEqual({ pointer: "/collection", message });
    },
  );

  it("a body that is not an envelope differs from the smallest envelope", () => {
    for (const least of [
      { rel: "resource" },
      { rel: "entity", body: {} },
      { rel: "collection", collection: [] },
    ]) {
      expect(readEnvelopeOrThrow(least).issues).toEqual([]);
    }
    expect(parseGolden("not-authenticated").value).toSatisfy((value) => refusal(value).pointer === "/rel");
  });
});
