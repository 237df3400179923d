/** Faults of status lines, headers and connections, with a client that shows the raw response. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "vitest";
import type { deliveryFaults } from "../../src/sandbox/faults/delivery-faults.ts";
import type { headerFaults, statusFaults } from "../../src/sandbox/faults/response-faults.ts";
import { send } from "./support/client.ts";
import {
  bodyIn,
  type Case,
  onBench,
  overheard,
  rightBytes,
  testFaults,
  useFaultBench,
} from "./support/fault-bench.ts";

useFaultBench();

type Names = keyof typeof statusFaults | keyof typeof headerFaults | keyof typeof deliveryFaults;

/** At least one case for each fault, by default on a model. */
const cases: Record<Names, Case | readonly Case[]> = {
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
      onBench().sandbox.clearLog();
      while (onBench().sandbox.log().length === 0) await new Promise((resolve) => setImmediate(resolve));
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
};

testFaults(cases);
