import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../../schema/input/limits.ts";
import { jsonResponse, rawResponse } from "../../support/raw-server.ts";
import { failureOf, jsonOf, startClientRig } from "../support/client.ts";

const text = JSON.stringify({ rel: "entity", body: { name: "n".repeat(300), list: [1, 2, 3] } });
const compress = {
  gzip: (body: string | Uint8Array) => gzipSync(body),
  br: (body: string | Uint8Array) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }),
  zstd: (body: string | Uint8Array) => zstdCompressSync(body),
};
const encodings = ["gzip", "br", "zstd"] as const;
const json = { "content-type": "application/json" };
const noRetry = { retry: { maxRetries: 0 } };
const closing = { ...json, connection: "close" };

describe("a truncated body", () => {
  const whole = Buffer.from(text);
  const chunked = (body: Uint8Array) =>
    Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);
  const framings: Record<string, (cut: number) => Buffer> = {
    "short of its length": (cut) =>
      rawResponse(200, { ...json, "content-length": String(whole.length) }, whole.subarray(0, cut)),
    "within a chunk": (cut) =>
      rawResponse(200, { ...json, "transfer-encoding": "chunked" }, chunked(whole).subarray(0, cut)),
    "at the end of the connection": (cut) => rawResponse(200, closing, whole.subarray(0, cut)),
    "in gzip": (cut) =>
      rawResponse(200, { ...json, "content-encoding": "gzip" }, gzipSync(whole).subarray(0, cut)),
    "in br": (cut) =>
      rawResponse(200, { ...json, "content-encoding": "br" }, compress.br(whole).subarray(0, cut)),
    "in zstd": (cut) =>
      rawResponse(200, { ...json, "content-encoding": "zstd" }, zstdCompressSync(whole).subarray(0, cut)),
    "in gzip at the end of the connection": (cut) =>
      rawResponse(200, { ...closing, "content-encoding": "gzip" }, gzipSync(whole).subarray(0, cut)),
  };
  const length = (name: string) => {
    if (name === "within a chunk") return chunked(whole).length;
    const encoding = encodings.find((encoding) => name.startsWith(`in ${encoding}`));
    return encoding === undefined ? whole.length : compress[encoding](whole).length;
  };

  test.each(Object.entries(framings))("%s is detected and retried", async (name, cutAt) => {
    const n = length(name);
    const cuts = [0, 1, Math.floor(n / 2), n - 8, n - 1];
    await using rig = await startClientRig(({ path, index }, socket) => {
      const [, cut = "", first = ""] = path.split("/");
      if (String(index) === first) socket.end(cutAt(Number(cut)));
      else socket.write(rawResponse(200, json, whole));
    });
    for (const cut of cuts) {
      const sentBefore = rig.server.requests.length;
      const fetched = await rig.fetch(`/${cut}/${sentBefore}`);
      expect(fetched.outcome === "body" && Buffer.from(fetched.body).toString()).toBe(text);
      expect(rig.server.requests.length - sentBefore, `cut at ${cut}`).toBe(2);
    }
  });

  test("a body that is truncated every time is a temporary failure", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.end(rawResponse(200, { ...json, "content-length": "999" }, "{}")),
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({
      code: "incomplete-body",
      next: "retry",
      status: 200,
    });
    expect(rig.server.requests).toHaveLength(4);
  });

  test("a body that ends with the connection is accepted if it parses", async () => {
    await using rig = await startClientRig((_, socket) => socket.end(rawResponse(200, closing, text)));
    expect((await rig.fetch("/")).outcome).toBe("body");
  });
});

describe("an encoded body", () => {
  test.each(encodings)("%s is decoded", async (encoding) => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 3 })),
        async (value) => {
          const body = JSON.stringify(value);
          await using rig = await startClientRig((_, socket) =>
            socket.write(
              rawResponse(
                200,
                { ...json, "content-encoding": encoding.toUpperCase() },
                compress[encoding](body),
              ),
            ),
          );
          const fetched = await rig.fetch("/");
          expect(fetched.outcome === "body" && Buffer.from(fetched.body).toString()).toBe(body);
          expect(fetched.outcome === "body" && fetched.body.buffer.byteLength).toBe(Buffer.byteLength(body));
        },
      ),
      { numRuns: 20 },
    );
  });

  const [gzip, zstd] = [
    ["gzip", compress.gzip],
    ["zstd", compress.zstd],
  ] as const;

  test.each([gzip, zstd])("%s of several parts is decoded as one body", async (encoding, compress) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 4 }), async (cuts) => {
        const ends = [...cuts, text.length].sort((a, b) => a - b);
        const parts = ends.map((end, index) => compress(text.slice(ends[index - 1] ?? 0, end)));
        const body = Buffer.concat(parts);
        await using rig = await startClientRig((_, socket) =>
          socket.write(rawResponse(200, { ...json, "content-encoding": encoding }, body)),
        );
        const fetched = await rig.fetch("/");
        expect(fetched.outcome === "body" && Buffer.from(fetched.body).toString()).toBe(text);
      }),
      { numRuns: 20 },
    );
  });

  test.each([gzip, zstd])(
    "a bomb of many parts of %s is stopped, and a damaged part is refused",
    async (encoding, compress) => {
      const million = compress(" ".repeat(1024 * 1024));
      const bomb = Buffer.concat([compress(text), ...Array<Buffer>(200).fill(million)]);
      const damaged = Buffer.concat([compress(text), compress(" ").subarray(0, -1)]);
      await using rig = await startClientRig(
        ({ path }, socket) =>
          socket.write(
            rawResponse(200, { ...json, "content-encoding": encoding }, path === "/bomb" ? bomb : damaged),
          ),
        noRetry,
      );
      expect(await failureOf(rig.fetch("/bomb"))).toMatchObject({ code: "too-large" });
      expect(await failureOf(rig.fetch("/damaged"))).toMatchObject({ code: "incomplete-body" });
    },
  );

  test("a body of 100,000 empty zstd frames is refused at once", async () => {
    const frames = Buffer.concat(Array<Buffer>(100_000).fill(compress.zstd("")));
    await using rig = await startClientRig(
      (_, socket) => socket.write(rawResponse(200, { ...json, "content-encoding": "zstd" }, frames)),
      noRetry,
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "incomplete-body" });
  });

  test.each(encodings)(
    "%s with a flipped bit in its checksum or trailing data is refused",
    async (encoding) => {
      const good = compress[encoding](text);
      const flipped = Buffer.from(good);
      flipped[good.length - 5] = (flipped[good.length - 5] ?? 0) ^ 1;
      for (const body of [
        ...(encoding === "gzip" ? [flipped] : []),
        Buffer.concat([good, Buffer.from("junk")]),
        Buffer.concat([good, Buffer.alloc(8)]),
        Buffer.concat([good, Buffer.from("\0junk")]),
      ]) {
        await using rig = await startClientRig(
          (_, socket) => socket.write(rawResponse(200, { ...json, "content-encoding": encoding }, body)),
          noRetry,
        );
        expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "incomplete-body", next: "retry" });
      }
    },
  );

  test.each([
    "deflate",
    "compress",
    "x-gzip",
    "gzip, gzip",
    "identity, gzip",
    "gzip,br,gzip,br,gzip,br",
    "*",
  ])("%j was not offered and is refused", async (encoding) => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(rawResponse(200, { ...json, "content-encoding": encoding }, gzipSync(text))),
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "encoding-refused", next: "skip" });
    expect(rig.server.requests).toHaveLength(1);
  });

  test("encodings in several headers are refused", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(
        rawResponse(200, { ...json, "content-encoding": ["gzip", "gzip"] }, gzipSync(gzipSync(text))),
      ),
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "encoding-refused" });
  });
});

describe("a body beyond the limits", () => {
  test.each(encodings)("a decompression bomb in %s is stopped within 48 MiB of memory", async (encoding) => {
    const bomb = compress[encoding](Buffer.alloc(200 * 1024 * 1024, 0x20));
    await using rig = await startClientRig((_, socket) =>
      socket.write(rawResponse(200, { ...json, "content-encoding": encoding }, bomb)),
    );
    const before = process.memoryUsage().rss;
    const failure = await failureOf(rig.fetch("/"));
    expect(failure).toMatchObject({ code: "too-large", next: "skip" });
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
  });

  test("a body is refused by its compression ratio before the size limit", async () => {
    const padded = gzipSync(`{"a":"${" ".repeat(2 * 1024 * 1024)}"}`);
    await using rig = await startClientRig(
      (_, socket) => socket.write(rawResponse(200, { ...json, "content-encoding": "gzip" }, padded)),
      {
        limits: { ratio: 50 },
      },
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "too-large" });
  });

  test("a body with too large a Content-Length is not read", async () => {
    await using rig = await startClientRig(
      (_, socket) => socket.write(rawResponse(200, { ...json, "content-length": "1001" })),
      {
        limits: { wireBytes: 1000 },
      },
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "too-large", next: "skip", status: 200 });
  });

  test("an endless body is stopped at the size limit", async () => {
    await using rig = await startClientRig(
      (_, socket) => {
        const write = () => socket.write("x".repeat(5000), (error) => error ?? setImmediate(write));
        socket.write(rawResponse(200, closing), write);
      },
      { limits: { decodedBytes: 100_000 } },
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "too-large" });
  });

  test("too deep nesting is an error that says so", async () => {
    const nested = `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(200, json, nested)));
    const failure = await failureOf(rig.fetch("/deep"));
    expect(failure).toMatchObject({ code: "too-deep", next: "skip" });
    expect(failure.message).toBe(`${rig.server.origin}/deep: nested more than 64 levels deep`);
  });

  test("too large headers are refused", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse({}, { "x-long": "x".repeat(100_000) })),
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "too-large", next: "skip" });
  });

  test("a page of as many items as a list may have is accepted", async () => {
    const collection = Array.from({ length: limits.itemsPerPage }, (_, index) => ({
      href: `/brands/${index}/`,
      name: `Brand ${index}`,
    }));
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse({ rel: "collection", collection })),
    );
    expect((await rig.fetch("/")).outcome).toBe("body");
  });
});

describe("a body that is not the API's", () => {
  test.each([
    "text/html",
    "text/plain",
    "application/xml",
    "application/jsonp",
    "text/json; x=application/json",
    "",
  ])("a body of type %j is not stored", async (type) => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(rawResponse(200, { "content-type": type }, text)),
    );
    const failure = await failureOf(rig.fetch("/"));
    expect(failure).toMatchObject({ code: "not-the-api", next: "skip", status: 200 });
    expect(failure.message).toContain(type.split(";")[0] || "no content type");
  });

  test("a body with no content type, or two, is refused", async () => {
    await using rig = await startClientRig(({ path }, socket) =>
      socket.write(
        rawResponse(200, path === "/none" ? {} : { "content-type": ["application/json", "text/html"] }, text),
      ),
    );
    expect(await failureOf(rig.fetch("/none"))).toMatchObject({ code: "not-the-api" });
    expect(await failureOf(rig.fetch("/two"))).toMatchObject({ code: "not-the-api" });
  });

  const notJson = [
    "",
    " ",
    "null",
    "true",
    "[]",
    '"text"',
    "12",
    "{",
    "{}{}",
    "{}\n{}",
    "{} x",
    "{'a':1}",
    '{"a":1,}',
    '{"a":NaN}',
    "\ufeff\ufeff{}",
    '{"a":"\n"}',
  ];
  test.each(notJson)("%j is refused: it is not one JSON object", async (body) => {
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(200, json, body)));
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "not-json", next: "skip" });
    expect(rig.server.requests).toHaveLength(1);
  });

  test("one byte order mark is accepted and kept", async () => {
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(200, json, "\ufeff{}")));
    const fetched = await rig.fetch("/");
    expect(fetched.outcome === "body" && [...fetched.body]).toEqual([0xef, 0xbb, 0xbf, 0x7b, 0x7d]);
  });

  test.each([
    ["a stray byte", [0xff]],
    ["an overlong form", [0xc0, 0xaf]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["a cut character", [0xe2, 0x82]],
    ["beyond Unicode", [0xf4, 0x90, 0x80, 0x80]],
  ])("a body with %s is not UTF-8", async (_name, bytes) => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Uint8Array.from(bytes), Buffer.from('"}')]);
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(200, json, body)));
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "not-utf8", next: "skip" });
  });

  test("UTF-16 is refused", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(rawResponse(200, json, Buffer.from('\ufeff{"a":1}', "utf16le"))),
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ next: "skip" });
  });

  test("NUL, lone surrogates and bidirectional controls are kept exactly", async () => {
    const odd = '{"a":"\\u0000\\ud800\u202e","__proto__":{"polluted":1}}';
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(200, json, odd)));
    const fetched = await rig.fetch("/");
    expect(fetched.outcome === "body" && Buffer.from(fetched.body).toString()).toBe(odd);
    expect(jsonOf(fetched)).toMatchObject({ a: "\0\ud800\u202e" });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("any bytes give a result or a failure with a next step", async () => {
    const body = { current: new Uint8Array() };
    await using rig = await startClientRig(
      (_, socket) => socket.write(rawResponse(200, json, body.current)),
      noRetry,
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
        body.current = Buffer.concat([Buffer.from('{"a":'), bytes]);
        const outcome = await rig.fetch("/").then(
          (fetched) => fetched.outcome,
          (error: Error) => error.name,
        );
        expect(["body", "ServiceError"]).toContain(outcome);
      }),
      { numRuns: 200 },
    );
  });
});
