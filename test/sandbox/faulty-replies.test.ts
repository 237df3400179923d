/** Faults of status lines, headers and connections, with a client that shows the raw response. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "vitest";
import type { deliveryFaults } from "../../src/sandbox/faults/delivery-faults.ts";
import type { headerFaults, statusFaults } from "../../src/sandbox/faults/response-faults.ts";
import { send } from "./support/client.ts";
import {
  bodyIn,
  type Case,
  correctBytes,
  faultRig,
  overheard,
  testFaults,
  useFaultRig,
} from "./support/fault-rig.ts";

useFaultRig();

type Names = keyof typeof statusFaults | keyof typeof headerFaults | keyof typeof deliveryFaults;

/** At least one case for each fault, by default on a model. */
const cases: Record<Names, Case | readonly Case[]> = {
  status: [
    { check: async (url) => expect(await send(url)).toMatchObject({ status: 503 }) },
    {
      rule: { status: 429, retryAfter: ["120", "@-60"] },
      check: async (url) => {
        const { status, rawHeaders } = await send(url);
        const forms = rawHeaders.filter((_, index) => rawHeaders[index - 1] === "Retry-After");
        expect(status).toBe(429);
        expect(forms[0]).toBe("120");
        expect(Date.parse(forms[1] ?? "")).toBeLessThan(Date.now());
      },
    },
    {
      rule: { status: 401 },
      check: async (url) =>
        expect(JSON.parse((await send(url)).bytes.toString()).message).toBe("Not authenticated"),
    },
  ],
  "not-authenticated": {
    rule: { status: 200 },
    check: async (url) => {
      const { status, bytes } = await send(url);
      expect(status).toBe(200);
      expect(JSON.parse(bytes.toString())).toEqual({
        message: "Not authenticated",
        spec: expect.any(String),
      });
    },
  },
  "bare-refusal": {
    check: async (url) => {
      const { status, bytes } = await send(url);
      expect({ status, body: JSON.parse(bytes.toString()) }).toEqual({ status: 403, body: {} });
    },
  },
  "allowance-spent": {
    rule: { count: 90 },
    check: async (url) => {
      const { status, headers } = await send(url);
      expect({ status, left: headers["x-ratelimit-remaining"] }).toEqual({ status: 403, left: "0" });
      expect(Number(headers["x-ratelimit-reset"])).toBeGreaterThan(Date.now() / 1_000 + 80);
    },
  },
  redirect: [
    {
      check: async (url) =>
        expect(await send(url)).toMatchObject({ status: 302, headers: { location: url } }),
    },
    {
      rule: { status: 301, target: "http://{host}.evil.example{path}" },
      check: async (url) => {
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
    check: async (url) => {
      let at = url;
      for (let hop = 0; hop < 3; hop++) at = (await send(at)).headers.location ?? "";
      expect((await send(at)).status).toBe(200);
    },
  },
  "not-modified": {
    check: async (url) => expect(await send(url)).toMatchObject({ status: 304, bytes: Buffer.alloc(0) }),
  },
  header: [
    {
      rule: { name: "X-RateLimit-Reset", value: "soon" },
      check: async (url) => expect((await send(url)).headers["x-ratelimit-reset"]).toBe("soon"),
    },
    {
      rule: { name: "ETag", value: null },
      check: async (url) => expect((await send(url)).headers).not.toHaveProperty("etag"),
    },
    {
      rule: { name: "Set-Cookie", value: ["a=1", "b=2"] },
      check: async (url) => expect((await send(url)).headers["set-cookie"]).toEqual(["a=1", "b=2"]),
    },
  ],
  "wrong-content-type": {
    check: async (url) => expect((await send(url)).headers["content-type"]).toBe("text/html"),
  },
  "no-content-type": {
    check: async (url) => expect((await send(url)).headers).not.toHaveProperty("content-type"),
  },
  "login-page": {
    check: async (url) => {
      const { status, headers, bytes } = await send(url);
      expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type: "text/html" });
      expect(bytes.toString()).toContain("Wi-Fi");
    },
  },
  encoding: [
    {
      check: async (url) =>
        expect(await send(url)).toMatchObject({
          headers: { "content-encoding": "snappy" },
          bytes: correctBytes(url),
        }),
    },
    {
      rule: { value: "br" },
      check: async (url) => expect(brotliDecompressSync((await send(url)).bytes)).toEqual(correctBytes(url)),
    },
  ],
  "chained-encodings": {
    rule: { count: 3 },
    check: async (url) => {
      const { headers, bytes } = await send(url);
      expect(headers["content-encoding"]).toBe("gzip, gzip, gzip");
      expect(gunzipSync(gunzipSync(gunzipSync(bytes)))).toEqual(correctBytes(url));
    },
  },
  "gzip-bomb": {
    rule: { bytes: 20 * 2 ** 20 },
    check: async (url) => {
      const { bytes } = await send(url);
      const decoded = gunzipSync(bytes);
      expect(decoded.length / bytes.length).toBeGreaterThan(500);
      expect(decoded.subarray(0, correctBytes(url).length)).toEqual(correctBytes(url));
    },
  },
  "same-etag-other-body": {
    check: async (url) => {
      const struck = await send(url);
      const usual = await send(url);
      expect(struck.headers.etag).toBe(usual.headers.etag);
      expect(struck.bytes).not.toEqual(usual.bytes);
    },
  },
  truncate: [
    {
      check: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect(Number(headers["content-length"])).toBe(correctBytes(url).length);
        expect(bytes).toEqual(correctBytes(url).subarray(0, Math.floor(correctBytes(url).length / 2)));
        expect(broken).toBe("ECONNRESET");
      },
    },
    {
      rule: { framing: "chunked", at: -1 },
      check: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect(headers["transfer-encoding"]).toBe("chunked");
        expect(bytes).toEqual(correctBytes(url).subarray(0, -1));
        expect(broken).toBe("ECONNRESET");
      },
    },
    {
      rule: { framing: "chunked", at: 0 },
      check: async (url) =>
        expect(await send(url)).toMatchObject({ bytes: Buffer.alloc(0), broken: "ECONNRESET" }),
    },
    {
      rule: { framing: "close", at: 10 },
      check: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect(headers).not.toHaveProperty("content-length");
        expect({ bytes, broken }).toEqual({ bytes: correctBytes(url).subarray(0, 10), broken: null });
      },
    },
    {
      rule: { framing: "gzip", at: -8 },
      check: async (url) => {
        const { headers, bytes, broken } = await send(url);
        expect({ encoding: headers["content-encoding"], broken }).toEqual({ encoding: "gzip", broken: null });
        expect(() => gunzipSync(bytes)).toThrow("unexpected end of file");
      },
    },
  ],
  reset: {
    check: async (url) => {
      const outcome = await send(url).catch((error: NodeJS.ErrnoException) => ({
        broken: error.code,
        bytes: Buffer.alloc(0),
      }));
      expect(outcome.broken).toBe("ECONNRESET");
      expect(outcome.bytes.length).toBeLessThan(correctBytes(url).length);
    },
  },
  "hang-up": { check: async (url) => expect(send(url)).rejects.toMatchObject({ code: "ECONNRESET" }) },
  stall: {
    check: async (url) => {
      const half = Math.floor(correctBytes(url).length / 2);
      const { bytes, closed } = await overheard(url, (all) => bodyIn(all).length === half);
      expect({ body: bodyIn(bytes), closed }).toEqual({
        body: correctBytes(url).subarray(0, half),
        closed: false,
      });
    },
  },
  "stall-headers": {
    check: async (url) => {
      const abort = new AbortController();
      const stalled = fetch(url, { signal: abort.signal }).catch((error: Error) => error.name);
      faultRig().sandbox.clearLog();
      while (faultRig().sandbox.log().length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect((await send(url)).status).toBe(200);
      abort.abort();
      expect(await stalled).toBe("AbortError");
    },
  },
  drip: {
    kind: "root",
    rule: { millis: 0 },
    check: async (url) => {
      const { bytes } = await overheard(url, (all) => bodyIn(all).length === correctBytes(url).length);
      expect(bodyIn(bytes)).toEqual(correctBytes(url));
    },
  },
  "drip-headers": {
    rule: { millis: 0 },
    check: async (url) => {
      const { bytes } = await overheard(url, (all) => all.includes("X-Drip-5"));
      expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Drip-0: 1\r\n/);
    },
  },
  slow: {
    rule: { millis: 5 },
    check: async (url) => expect((await send(url)).bytes).toEqual(correctBytes(url)),
  },
  "close-after": {
    check: async (url) => {
      const { bytes, closed } = await overheard(url, () => false);
      expect({ body: bodyIn(bytes), closed }).toEqual({ body: correctBytes(url), closed: true });
      expect(bytes.subarray(0, bytes.indexOf("\r\n\r\n")).toString()).not.toMatch(/^connection/im);
    },
  },
  "not-modified-with-body": {
    check: async (url) => {
      const { bytes } = await overheard(url, () => false);
      expect(bytes.toString()).toMatch(/^HTTP\/1\.1 304 /);
      expect(bodyIn(bytes)).toEqual(correctBytes(url));
    },
  },
};

testFaults(cases);
