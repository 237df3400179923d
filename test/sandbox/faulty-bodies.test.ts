/** Faults of the body's text, links, pages and fields. */
import { expect } from "vitest";
import type { fieldFaults, linkFaults } from "../../src/sandbox/faults/envelope-faults.ts";
import type { pageFaults } from "../../src/sandbox/faults/page-faults.ts";
import type { textFaults } from "../../src/sandbox/faults/response-faults.ts";
import { send } from "./support/client.ts";
import {
  type Case,
  correctBytes,
  correctEnvelope,
  type LooseEnvelope,
  parsed,
  testFaults,
  useFaultRig,
} from "./support/fault-rig.ts";

useFaultRig();

const entityCase = (look: (body: Record<string, unknown>, url: string) => void, rule = {}): Case => ({
  rule,
  check: async (url) => look(parsed(await send(url)).body ?? {}, url),
});
const textCase = (look: (text: string, url: string) => void, rule = {}): Case => ({
  rule,
  check: async (url) => look((await send(url)).bytes.toString(), url),
});
const pageCase = (index: number, look: (page: LooseEnvelope, url: string) => void, rule = {}): Case => ({
  kind: "brands",
  index,
  rule,
  check: async (url) => look(parsed(await send(url)), url),
});
const linksCase = (
  look: (links: Record<string, unknown> | undefined, url: string) => void,
  rule = {},
): Case => ({
  rule,
  check: async (url) => look(parsed(await send(url)).links, url),
});

type Names =
  | keyof typeof textFaults
  | keyof typeof linkFaults
  | keyof typeof pageFaults
  | keyof typeof fieldFaults;

/** At least one case for each fault, by default on a model. */
const cases: Record<Names, Case | readonly Case[]> = {
  text: textCase((text) => expect(text).toBe("[1, 2"), { value: "[1, 2" }),
  "empty-body": textCase((text) => expect(text).toBe("")),
  "json-null": textCase((text) => expect(text).toBe("null")),
  "json-array": textCase((text) => expect(JSON.parse(text)).toEqual([expect.any(Object)])),
  "json-string": textCase((text) => expect(typeof JSON.parse(text)).toBe("string")),
  "not-json": textCase((text) => expect(() => JSON.parse(text)).toThrow()),
  "two-documents": textCase((text, url) => expect(text).toBe(`${correctBytes(url)}\n${correctBytes(url)}`)),
  "trailing-garbage": textCase((text, url) => expect(text).toBe(`${correctBytes(url)}<!-- cached -->`)),
  "byte-order-mark": textCase((text, url) => expect(text).toBe(`\uFEFF${correctBytes(url)}`)),
  "invalid-utf8": {
    check: async (url) => {
      const { bytes } = await send(url);
      expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toThrow();
      expect(() => JSON.parse(bytes.toString())).not.toThrow();
    },
  },
  "utf-16": {
    check: async (url) =>
      expect(new TextDecoder("utf-16le").decode((await send(url)).bytes)).toBe(correctBytes(url).toString()),
  },
  "big-numbers": textCase((text) => {
    expect(text).toContain('"bra_count":9007199254740993');
    expect(text.match(/"bra_count":/g)).toHaveLength(1);
    expect(JSON.parse(text).body.huge).toBe(Number.POSITIVE_INFINITY);
  }),
  "duplicate-keys": textCase((text) => {
    expect(text.match(/"name":/g)?.length).toBeGreaterThanOrEqual(3);
    JSON.parse(text);
  }),
  "two-bodies": textCase((text) => {
    expect(text.match(/"(?:body|collection)":[[{]/g)).toHaveLength(2);
    JSON.parse(text);
  }),
  "prototype-keys": textCase((text) => expect(Object.hasOwn(JSON.parse(text), "__proto__")).toBe(true)),
  deep: textCase((text) => expect(text).toContain("[".repeat(5_000))),
  "evil-links": [
    linksCase((links, url) => {
      for (const link of Object.values(links ?? {}))
        expect(link).not.toMatch(new RegExp(`^${new URL(url).origin}/\\w`));
    }),
    linksCase(
      (links, url) => expect(links).toEqual({ ...correctEnvelope(url).links, sizes: "//evil.example" }),
      {
        link: "sizes",
        target: "//evil.example",
      },
    ),
    pageCase(
      0,
      ({ collection }) => {
        for (const item of collection ?? []) expect(item.href).toBe("file:///etc/passwd");
      },
      { target: "file:///etc/passwd" },
    ),
  ],
  "null-links": linksCase((links) => expect(Object.values(links ?? {})).toEqual([null, null, null, null])),
  "wrong-links": linksCase((links) => expect(links?.brand).toEqual({ href: 42 }), { link: "brand" }),
  "relative-links": linksCase((links) => expect(links?.brand).toMatch(/^\/brands\/[\w-]+\/$/)),
  "templated-links": linksCase((links) => expect(links?.sizes).toMatch(/\/sizes\/\{\?page\}$/)),
  "missing-links": [
    linksCase((links) => expect(links).toBeUndefined()),
    linksCase((links) => expect(Object.keys(links ?? {})).toEqual(["brand", "same_cut", "related"]), {
      link: "sizes",
    }),
  ],
  "items-without-href": pageCase(0, ({ collection }) => {
    for (const item of collection ?? []) expect(Object.keys(item)).toEqual(["service_url", "name"]);
  }),
  "relative-hrefs": pageCase(0, ({ collection }) => {
    for (const item of collection ?? []) expect(item.href).toMatch(/^\/brands\//);
  }),
  "next-self": pageCase(1, ({ meta }, url) => expect(meta.next).toBe(url)),
  "next-earlier": pageCase(1, ({ meta }, url) => expect(meta.next).toBe(correctEnvelope(url).meta.prev)),
  "next-endless": {
    kind: "brands",
    rule: { times: "always" },
    check: async (url) => {
      const seen = new Set<unknown>();
      let page = parsed(await send(url));
      for (let count = 0; count < 4; count++) {
        expect(page.collection).toEqual(correctEnvelope(url).collection);
        seen.add(page.meta.next);
        page = parsed(await send(String(page.meta.next)));
      }
      expect(seen.size).toBe(4);
    },
  },
  "next-beyond": {
    kind: "brands",
    index: 2,
    check: async (url) => expect((await send(String(parsed(await send(url)).meta.next))).status).toBe(404),
  },
  "next-missing": pageCase(0, ({ meta }) => expect(meta).not.toHaveProperty("next")),
  "wrong-total": [
    pageCase(0, ({ meta }) => expect(meta.collection_total).toBe(999_999)),
    pageCase(0, ({ meta }) => expect(meta.collection_total).toBe("-3"), { value: "-3" }),
  ],
  drift: [
    pageCase(1, ({ collection }, url) => {
      const before = correctEnvelope(String(correctEnvelope(url).meta.prev)).collection ?? [];
      expect(collection).toEqual([before.at(-1), ...(correctEnvelope(url).collection ?? []).slice(0, -1)]);
    }),
    pageCase(
      1,
      ({ collection }, url) => {
        const after = correctEnvelope(String(correctEnvelope(url).meta.next)).collection ?? [];
        expect(collection).toEqual([
          ...(correctEnvelope(url).collection ?? []).slice(2),
          ...after.slice(0, 2),
        ]);
      },
      { by: -2 },
    ),
  ],
  "null-collection": pageCase(0, ({ collection }) => expect(collection).toBeNull()),
  "empty-collection": pageCase(0, ({ collection, meta }) =>
    expect([collection, meta.next, meta.collection_total]).toEqual([[], null, 0]),
  ),
  "many-items": pageCase(0, ({ collection }) => expect(collection).toHaveLength(5_000), { count: 5_000 }),
  set: [
    entityCase((body) => expect(body.name).toEqual({ any: "value" }), {
      pointer: "/body/name",
      value: { any: "value" },
    }),
    pageCase(
      0,
      ({ collection }, url) => {
        for (const item of collection ?? []) expect(item.href).toBe(`//${new URL(url).host}/`);
      },
      { pointer: "/collection/*/href", value: "//{host}/" },
    ),
  ],
  remove: pageCase(
    0,
    ({ collection }) => expect(collection?.map((item) => "name" in item)).toEqual([true, false, true, true]),
    {
      pointer: "/collection/1/name",
    },
  ),
  "wrong-types": entityCase((body, url) => {
    for (const [name, value] of Object.entries(correctEnvelope(url).body ?? {}))
      expect(typeof body[name]).not.toBe(typeof value);
  }),
  "unknown-fields": {
    check: async (url) => {
      const { body, links, meta, surprise } = parsed(await send(url));
      expect([body?.surprise, links?.surprise, meta.surprise, surprise]).toEqual([
        { deep: [1, null] },
        `${url}surprise/`,
        true,
        "at the top",
      ]);
    },
  },
  "odd-time": entityCase((body) => expect(body.last_modified_at).toBe("12 o'clock"), { value: "12 o'clock" }),
  "odd-text": entityCase((body) => expect(body.name).toBe("nul \u0000 inside")),
  "top-level-collection": {
    check: async (url) => {
      const { meta, ...rest } = JSON.parse((await send(url)).bytes.toString());
      expect([meta, rest.collection]).toEqual([{}, correctEnvelope(url).meta.collection]);
    },
  },
  "empty-meta": { check: async (url) => expect(parsed(await send(url)).meta).toEqual({}) },
  "wrong-rel": { check: async (url) => expect(parsed(await send(url)).rel).toBe("surprise") },
  "huge-text": entityCase((body) => expect(String(body.name).length).toBe(2 ** 20)),
  "many-keys": entityCase((body) => expect(Object.keys(body).length).toBeGreaterThan(50_000)),
};

testFaults(cases);
