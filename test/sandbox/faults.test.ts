/** Every fault, seen with a client that hides nothing. */
import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { FaultRuleInput } from "../../src/sandbox/faults/fault-rule.ts";
import { type FaultName, faultNames } from "../../src/sandbox/faults/faults.ts";
import type { TruthRecord } from "../../src/sandbox/resources/catalogue.ts";
import type { ResourceKind } from "../../src/sandbox/resources/resource.ts";
import type { SentEnvelope } from "../../src/sandbox/resources/view.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type Received, send } from "./client.ts";

let sandbox: Sandbox;
let truth: ReadonlyMap<string, TruthRecord>;
beforeAll(async () => {
  sandbox = await startSandbox({ pageSize: 4 });
  truth = new Map([...sandbox.truth()].map((record) => [record.url, record]));
});
afterAll(() => sandbox.close());

const urlsOf = (kind: ResourceKind): string[] =>
  [...truth.values()].flatMap((record) => (record.kind === kind ? [record.url] : []));
const right = (url: string): SentEnvelope => {
  const record = truth.get(url);
  if (!record) throw new Error(`not in the truth: ${url}`);
  return record.body;
};
const rightBytes = (url: string): Buffer => Buffer.from(JSON.stringify(right(url)));
const parsed = ({ bytes }: Received): z.infer<typeof looseEnvelope> =>
  looseEnvelope.parse(JSON.parse(bytes.toString()));
const looseEnvelope = z.looseObject({
  rel: z.unknown(),
  links: z.record(z.string(), z.unknown()).optional(),
  meta: z.record(z.string(), z.unknown()),
  body: z.record(z.string(), z.unknown()).optional(),
  collection: z.array(z.record(z.string(), z.unknown())).nullish(),
});

/** Everything that a connection says until it closes, or until it has said enough. */
function overheard(
  url: string,
  enough: (bytes: Buffer) => boolean,
): Promise<{ bytes: Buffer; closed: boolean }> {
  const { hostname, port, pathname, host, search } = new URL(url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
    );
    const finish = (closed: boolean): void => {
      socket.destroy();
      resolve({ bytes: Buffer.concat(chunks), closed });
    };
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (enough(Buffer.concat(chunks))) finish(false);
    });
    socket.on("error", () => finish(true));
    socket.on("close", () => finish(true));
  });
}

const bodyIn = (bytes: Buffer): Buffer => bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);

interface Case {
  readonly kind?: ResourceKind;
  readonly rule?: Omit<FaultRuleInput, "fault" | "kind">;
  /** Which of the URLs of that kind. */
  readonly index?: number;
  readonly see: (url: string) => Promise<void>;
}

const entityCase = (look: (body: Record<string, unknown>, url: string) => void, rule = {}): Case => ({
  rule,
  see: async (url) => look(parsed(await send(url)).body ?? {}, url),
});
const textCase = (look: (text: string, url: string) => void, rule = {}): Case => ({
  rule,
  see: async (url) => look((await send(url)).bytes.toString(), url),
});
const pageCase = (
  index: number,
  look: (page: z.infer<typeof looseEnvelope>, url: string) => void,
  rule = {},
): Case => ({
  kind: "brands",
  index,
  rule,
  see: async (url) => look(parsed(await send(url)), url),
});
const linksCase = (
  look: (links: Record<string, unknown> | undefined, url: string) => void,
  rule = {},
): Case => ({
  rule,
  see: async (url) => look(parsed(await send(url)).links, url),
});

/** For each fault, one case at least: on a model, unless it says otherwise. */
const cases: Record<FaultName, Case | readonly Case[]> = {
  status: [
    { see: async (url) => expect(await send(url)).toMatchObject({ status: 503 }) },
    {
      rule: { status: 429, retryAfter: ["120", "@-60"] },
      see: async (url) => {
        const { status, rawHeaders } = await send(url);
        const forms = rawHeaders.filter((_, index) => rawHeaders[index - 1] === "Retry-After");
        expect(status).toBe(429);
        expect(forms[0]).toBe("120");
        expect(Date.parse(forms[1] ?? "")).toBeLessThan(Date.now());
      },
    },
    {
      rule: { status: 401 },
      see: async (url) =>
        expect(JSON.parse((await send(url)).bytes.toString()).message).toBe("Not authenticated"),
    },
  ],
  "not-authenticated": {
    rule: { status: 200 },
    see: async (url) => {
      const { status, bytes } = await send(url);
      expect(status).toBe(200);
      expect(JSON.parse(bytes.toString())).toEqual({
        message: "Not authenticated",
        spec: expect.any(String),
      });
    },
  },
  "allowance-spent": {
    rule: { count: 90 },
    see: async (url) => {
      const { status, headers } = await send(url);
      expect({ status, left: headers["x-ratelimit-remaining"] }).toEqual({ status: 403, left: "0" });
      expect(Number(headers["x-ratelimit-reset"])).toBeGreaterThan(Date.now() / 1_000 + 80);
    },
  },
  redirect: [
    {
      see: async (url) => expect(await send(url)).toMatchObject({ status: 302, headers: { location: url } }),
    },
    {
      rule: { status: 301, target: "http://{host}.evil.example{path}" },
      see: async (url) => {
        const { host, pathname } = new URL(url);
        expect(await send(url)).toMatchObject({
          status: 301,
          headers: { location: `http://${host}.evil.example${pathname}` },
        });
      },
    },
  ],
  "redirect-chain": {
    rule: { count: 3, times: "always" },
    see: async (url) => {
      let at = url;
      for (let hop = 0; hop < 3; hop++) at = (await send(at)).headers.location ?? "";
      expect((await send(at)).status).toBe(200);
    },
  },
  "not-modified": {
    see: async (url) => expect(await send(url)).toMatchObject({ status: 304, bytes: Buffer.alloc(0) }),
  },
  header: [
    {
      rule: { name: "X-RateLimit-Reset", value: "soon" },
      see: async (url) => expect((await send(url)).headers["x-ratelimit-reset"]).toBe("soon"),
    },
    {
      rule: { name: "ETag", value: null },
      see: async (url) => expect((await send(url)).headers).not.toHaveProperty("etag"),
    },
    {
      rule: { name: "Set-Cookie", value: ["a=1", "b=2"] },
      see: async (url) => expect((await send(url)).headers["set-cookie"]).toEqual(["a=1", "b=2"]),
    },
  ],
  "wrong-content-type": {
    see: async (url) => expect((await send(url)).headers["content-type"]).toBe("text/html"),
  },
  "no-content-type": {
    see: async (url) => expect((await send(url)).headers).not.toHaveProperty("content-type"),
  },
  "login-page": {
    see: async (url) => {
      const { status, headers, bytes } = await send(url);
      expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type: "text/html" });
      expect(bytes.toString()).toContain("Wi-Fi");
    },
  },
  encoding: [
    {
      see: async (url) =>
        expect(await send(url)).toMatchObject({
          headers: { "content-encoding": "snappy" },
          bytes: rightBytes(url),
        }),
    },
    {
      rule: { value: "br" },
      see: async (url) => expect(brotliDecompressSync((await send(url)).bytes)).toEqual(rightBytes(url)),
    },
  ],
  "chained-encodings": {
    rule: { count: 3 },
    see: async (url) => {
      const { headers, bytes } = await send(url);
      expect(headers["content-encoding"]).toBe("gzip, gzip, gzip");
      expect(gunzipSync(gunzipSync(gunzipSync(bytes)))).toEqual(rightBytes(url));
    },
  },
  "gzip-bomb": {
    rule: { bytes: 20 * 2 ** 20 },
    see: async (url) => {
      const { bytes } = await send(url);
      const decoded = gunzipSync(bytes);
      expect(decoded.length / bytes.length).toBeGreaterThan(500);
      expect(decoded.subarray(0, rightBytes(url).length)).toEqual(rightBytes(url));
    },
  },
  "same-etag-other-body": {
    see: async (url) => {
      const struck = await send(url);
      const usual = await send(url);
      expect(struck.headers.etag).toBe(usual.headers.etag);
      expect(struck.bytes).not.toEqual(usual.bytes);
    },
  },
  truncate: [
    {
      see: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect(Number(headers["content-length"])).toBe(rightBytes(url).length);
        expect(bytes).toEqual(rightBytes(url).subarray(0, Math.floor(rightBytes(url).length / 2)));
        expect(broken).toBe("ECONNRESET");
      },
    },
    {
      rule: { framing: "chunked", at: -1 },
      see: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect(headers["transfer-encoding"]).toBe("chunked");
        expect(bytes).toEqual(rightBytes(url).subarray(0, -1));
        expect(broken).toBe("ECONNRESET");
      },
    },
    {
      rule: { framing: "chunked", at: 0 },
      see: async (url) =>
        expect(await send(url)).toMatchObject({ bytes: Buffer.alloc(0), broken: "ECONNRESET" }),
    },
    {
      rule: { framing: "close", at: 10 },
      see: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect(headers).not.toHaveProperty("content-length");
        expect({ bytes, broken }).toEqual({ bytes: rightBytes(url).subarray(0, 10), broken: null });
      },
    },
    {
      rule: { framing: "gzip", at: -8 },
      see: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect({ encoding: headers["content-encoding"], broken }).toEqual({ encoding: "gzip", broken: null });
        expect(() => gunzipSync(bytes)).toThrow("unexpected end of file");
      },
    },
  ],
  reset: {
    see: async (url) => {
      const outcome = await send(url).catch((error: NodeJS.ErrnoException) => ({
        broken: error.code,
        bytes: Buffer.alloc(0),
      }));
      expect(outcome.broken).toBe("ECONNRESET");
      expect(outcome.bytes.length).toBeLessThan(rightBytes(url).length);
    },
  },
  "hang-up": { see: async (url) => expect(send(url)).rejects.toMatchObject({ code: "ECONNRESET" }) },
  stall: {
    see: async (url) => {
      const half = Math.floor(rightBytes(url).length / 2);
      const { bytes, closed } = await overheard(url, (all) => bodyIn(all).length === half);
      expect({ body: bodyIn(bytes), closed }).toEqual({
        body: rightBytes(url).subarray(0, half),
        closed: false,
      });
    },
  },
  "stall-headers": {
    see: async (url) => {
      const abort = new AbortController();
      const stalled = fetch(url, { signal: abort.signal }).catch((error: Error) => error.name);
      sandbox.clearLog();
      while (sandbox.log().length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect((await send(url)).status).toBe(200);
      abort.abort();
      expect(await stalled).toBe("AbortError");
    },
  },
  drip: {
    kind: "root",
    rule: { millis: 0 },
    see: async (url) => {
      const { bytes } = await overheard(url, (all) => bodyIn(all).length === rightBytes(url).length);
      expect(bodyIn(bytes)).toEqual(rightBytes(url));
    },
  },
  "drip-headers": {
    rule: { millis: 0 },
    see: async (url) => {
      const { bytes } = await overheard(url, (all) => all.includes("X-Drip-5"));
      expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Drip-0: 1\r\n/);
    },
  },
  slow: { rule: { millis: 5 }, see: async (url) => expect((await send(url)).bytes).toEqual(rightBytes(url)) },
  "close-after": {
    see: async (url) => {
      const { bytes, closed } = await overheard(url, () => false);
      expect({ body: bodyIn(bytes), closed }).toEqual({ body: rightBytes(url), closed: true });
      expect(bytes.subarray(0, bytes.indexOf("\r\n\r\n")).toString()).not.toMatch(/^connection/im);
    },
  },
  "not-modified-with-body": {
    see: async (url) => {
      const { bytes } = await overheard(url, () => false);
      expect(bytes.toString()).toMatch(/^HTTP\/1\.1 304 /);
      expect(bodyIn(bytes)).toEqual(rightBytes(url));
    },
  },
  text: textCase((text) => expect(text).toBe("[1, 2"), { value: "[1, 2" }),
  "empty-body": textCase((text) => expect(text).toBe("")),
  "json-null": textCase((text) => expect(text).toBe("null")),
  "json-array": textCase((text) => expect(JSON.parse(text)).toEqual([expect.any(Object)])),
  "json-string": textCase((text) => expect(typeof JSON.parse(text)).toBe("string")),
  "not-json": textCase((text) => expect(() => JSON.parse(text)).toThrow()),
  "two-documents": textCase((text, url) => expect(text).toBe(`${rightBytes(url)}\n${rightBytes(url)}`)),
  "trailing-garbage": textCase((text, url) => expect(text).toBe(`${rightBytes(url)}<!-- cached -->`)),
  "byte-order-mark": textCase((text, url) => expect(text).toBe(`\uFEFF${rightBytes(url)}`)),
  "invalid-utf8": {
    see: async (url) => {
      const { bytes } = await send(url);
      expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toThrow();
      expect(() => JSON.parse(bytes.toString())).not.toThrow();
    },
  },
  "utf-16": {
    see: async (url) =>
      expect(new TextDecoder("utf-16le").decode((await send(url)).bytes)).toBe(rightBytes(url).toString()),
  },
  "big-numbers": textCase((text) => {
    expect(text).toContain('"bra_count":9007199254740993');
    expect(text.match(/"bra_count":/g)).toHaveLength(1);
    expect(JSON.parse(text).body.huge).toBe(Number.POSITIVE_INFINITY);
  }),
  "duplicate-keys": textCase((text) => {
    expect(text.match(/"self":/g)).toHaveLength(2);
    expect(text.match(/"name":/g)?.length).toBeGreaterThanOrEqual(3);
    JSON.parse(text);
  }),
  "prototype-keys": textCase((text) => expect(Object.hasOwn(JSON.parse(text), "__proto__")).toBe(true)),
  deep: textCase((text) => expect(text).toContain("[".repeat(5_000))),
  "evil-links": [
    linksCase((links, url) => {
      for (const link of Object.values(links ?? {}))
        expect(link).not.toMatch(new RegExp(`^${new URL(url).origin}/\\w`));
    }),
    linksCase((links, url) => expect(links).toEqual({ ...right(url).links, sizes: "//evil.example" }), {
      link: "sizes",
      target: "//evil.example",
    }),
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
  "next-earlier": pageCase(1, ({ meta }, url) => expect(meta.next).toBe(right(url).meta.prev)),
  "next-endless": {
    kind: "brands",
    rule: { times: "always" },
    see: async (url) => {
      const seen = new Set<unknown>();
      let page = parsed(await send(url));
      for (let count = 0; count < 4; count++) {
        expect(page.collection).toEqual(right(url).collection);
        seen.add(page.meta.next);
        page = parsed(await send(String(page.meta.next)));
      }
      expect(seen.size).toBe(4);
    },
  },
  "next-beyond": {
    kind: "brands",
    index: 2,
    see: async (url) => expect((await send(String(parsed(await send(url)).meta.next))).status).toBe(404),
  },
  "next-missing": pageCase(0, ({ meta }) => expect(meta).not.toHaveProperty("next")),
  "wrong-total": [
    pageCase(0, ({ meta }) => expect(meta.collection_total).toBe(999_999)),
    pageCase(0, ({ meta }) => expect(meta.collection_total).toBe("-3"), { value: "-3" }),
  ],
  drift: [
    pageCase(1, ({ collection }, url) => {
      const before = right(String(right(url).meta.prev)).collection ?? [];
      expect(collection).toEqual([before.at(-1), ...(right(url).collection ?? []).slice(0, -1)]);
    }),
    pageCase(
      1,
      ({ collection }, url) => {
        const after = right(String(right(url).meta.next)).collection ?? [];
        expect(collection).toEqual([...(right(url).collection ?? []).slice(2), ...after.slice(0, 2)]);
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
    entityCase((body) => expect(body.name).toEqual({ any: "thing" }), {
      pointer: "/body/name",
      value: { any: "thing" },
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
    for (const [name, value] of Object.entries(right(url).body ?? {}))
      expect(typeof body[name]).not.toBe(typeof value);
  }),
  "unknown-fields": {
    see: async (url) => {
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
    see: async (url) => {
      const { meta, ...rest } = JSON.parse((await send(url)).bytes.toString());
      expect([meta, rest.collection]).toEqual([{}, right(url).meta.collection]);
    },
  },
  "empty-meta": { see: async (url) => expect(parsed(await send(url)).meta).toEqual({}) },
  "wrong-rel": { see: async (url) => expect(parsed(await send(url)).rel).toBe("surprise") },
  "huge-text": entityCase((body) => expect(String(body.name).length).toBe(2 ** 20)),
  "many-keys": entityCase((body) => expect(Object.keys(body).length).toBeGreaterThan(50_000)),
};

const rows = faultNames.flatMap((fault) => [cases[fault]].flat().map((row) => ({ fault, ...row })));

describe("fault", () => {
  it.each(rows)("$fault $rule", async ({ fault, kind = "model", rule, index = 0, see }) => {
    sandbox.setFaults([{ kind, fault, ...rule }]);
    const url = urlsOf(kind)[index] ?? "";
    await see(url);
    sandbox.setFaults([]);
    expect((await send(url)).bytes).toEqual(rightBytes(url));
  });
});

describe("a rule", () => {
  const statusesOf = async (urls: readonly string[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (const url of urls) statuses.push((await send(url)).status);
    return statuses;
  };

  it.each<[FaultRuleInput, number[]]>([
    [{ fault: "status" }, [503, 503, 503, 503, 503, 503]],
    [{ fault: "status", positions: [1, 3] }, [503, 200, 503, 200, 200, 200]],
    [{ fault: "status", every: 2 }, [200, 503, 200, 503, 200, 503]],
    [{ fault: "status", from: 5 }, [200, 200, 200, 200, 503, 503]],
    [{ fault: "status", kind: "size" }, [200, 200, 200, 200, 200, 200]],
    [{ fault: "status", every: 2, from: 4 }, [200, 200, 200, 503, 200, 503]],
  ])("%j strikes the URLs at its positions, in the order of asking", async (rule, statuses) => {
    sandbox.setFaults([rule]);
    expect(await statusesOf(urlsOf("model").slice(0, 6))).toEqual(statuses);
  });

  it.each([
    [undefined, [503, 200, 200, 200]],
    [3, [503, 503, 503, 200]],
    ["always", [503, 503, 503, 503]],
  ] as const)("with times %j strikes a URL so often", async (times, statuses) => {
    sandbox.setFaults([{ fault: "status", ...(times !== undefined && { times }) }]);
    const [url = ""] = urlsOf("size");
    expect(await statusesOf([url, url, url, url])).toEqual(statuses);
  });

  it("waits its turn behind an earlier one", async () => {
    sandbox.setFaults([
      { fault: "status", status: 500 },
      { fault: "status", status: 502 },
    ]);
    const [url = ""] = urlsOf("size");
    expect(await statusesOf([url, url, url])).toEqual([500, 502, 200]);
  });

  it("leaves errors as they are", async () => {
    sandbox.setFaults([{ fault: "status", status: 500 }]);
    expect((await send(`${sandbox.url}brands/nobody/`)).status).toBe(404);
    expect((await send(`${sandbox.url}me/`)).status).toBe(401);
  });

  it("gives what it changed an ETag of its own, which is honoured", async () => {
    sandbox.setFaults([{ fault: "unknown-fields", times: "always" }]);
    const [url = ""] = urlsOf("size");
    const struck = await send(url);
    expect((await send(url, { headers: { "If-None-Match": struck.headers.etag ?? "" } })).status).toBe(304);
    sandbox.setFaults([]);
    const usual = await send(url, { headers: { "If-None-Match": struck.headers.etag ?? "" } });
    expect(usual).toMatchObject({ status: 200, bytes: rightBytes(url) });
  });
});

describe("presets", () => {
  it("flaky: everything works within a few tries, and not all at the first", async () => {
    sandbox.setFaults("flaky");
    sandbox.clearLog();
    for (const { url } of truth.values()) {
      let whole = false;
      for (let attempt = 1; attempt <= 4 && !whole; attempt++) {
        whole = await send(url).then(
          ({ bytes }) => bytes.equals(rightBytes(url)),
          () => false,
        );
      }
      expect(whole).toBe(true);
    }
    expect(new Set(sandbox.log().map(({ fault }) => fault))).toEqual(
      new Set([undefined, "status", "reset", "truncate", "hang-up"]),
    );
  });

  it.each(["hostile", "broken"] as const)(
    "%s: some resources never work, the rest is right",
    async (preset) => {
      sandbox.setFaults(preset);
      sandbox.clearLog();
      let wrong = 0;
      for (const { url } of truth.values()) {
        for (let attempt = 1; attempt <= 2; attempt++) {
          const isRight = (await send(url)).bytes.equals(rightBytes(url));
          expect(isRight).toBe(sandbox.log().at(-1)?.fault === undefined);
          if (attempt === 2 && !isRight) wrong++;
        }
      }
      expect(wrong).toBeGreaterThan(20);
    },
  );

  it("slow: all of it comes, some of it late", async () => {
    sandbox.setFaults("slow");
    sandbox.clearLog();
    for (const url of urlsOf("model").slice(0, 9)) expect((await send(url)).bytes).toEqual(rightBytes(url));
    expect(sandbox.log().flatMap(({ fault }) => fault ?? [])).toEqual(["slow", "drip"]);
  });
});

it("faults are struck at opaque addresses as at plain ones", async () => {
  await using opaque = await startSandbox({
    layout: "opaque",
    faults: [{ kind: "brand", positions: [2], fault: "status", status: 500 }],
  });
  const urls = [...opaque.truth()].flatMap(({ kind, url }) => (kind === "brand" ? [url] : []));
  expect((await send(urls[0] ?? "")).status).toBe(200);
  expect((await send(urls[1] ?? "")).status).toBe(500);
});
