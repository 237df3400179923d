import { describe, expect, test } from "vitest";
import { openServiceClient } from "../../src/service/client.ts";
import { appCredential, bearerToken } from "../../src/service/credentials/credential.ts";
import { ServiceSettingsError } from "../../src/service/errors.ts";
import { jsonResponse, rawResponse } from "../support/raw-server.ts";
import { failureOf, jsonOf, startClientRig } from "./support/client.ts";

const brand = { rel: "entity", body: { name: "Ärmel “quoted” 🙂\u0000" } };

describe("responses", () => {
  test("a body is the bytes that were sent, with their headers", async () => {
    const text = '{ "rel" : "entity",\r\n "n": 9007199254740993, "n": 1.50 }';
    await using rig = await startClientRig((_, socket) =>
      socket.write(
        rawResponse(
          200,
          {
            ...{ "content-type": "application/json; charset=utf-8", etag: 'W/"7"', link: '</a>; rel="next"' },
            ...{ date: "Sun, 06 Nov 1994 08:49:37 GMT", "last-modified": "Sunday, 06-Nov-94 08:49:36 GMT" },
          },
          text,
        ),
      ),
    );
    const fetched = await rig.fetch("/brands/?page=2#x");
    expect(fetched).toMatchObject({
      outcome: "body",
      status: 200,
      etag: 'W/"7"',
      headers: {
        ...{ sentAt: "1994-11-06T08:49:37.000Z", modifiedAt: "1994-11-06T08:49:36.000Z" },
        ...{ contentType: "application/json; charset=utf-8", link: '</a>; rel="next"' },
      },
    });
    if (fetched.outcome !== "body") return;
    expect(fetched.finalUrl).toBe(`${rig.server.origin}/brands/?page=2`);
    expect(new TextDecoder().decode(fetched.body)).toBe(text);
    expect(rig.server.requests[0]?.path).toBe("/brands/?page=2");
  });

  test.each(["yesterday", "1994-11-06", "", "Sun, 06 Nov 1994 08:49:37"])(
    "a date %j is not kept",
    async (date) => {
      await using rig = await startClientRig((_, socket) =>
        socket.write(jsonResponse(brand, { date, "last-modified": date })),
      );
      expect(await rig.fetch("/")).toMatchObject({ headers: { sentAt: null, modifiedAt: null } });
    },
  );

  test("a body has a buffer of its own, so that cloning copies nothing else", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse(brand, { "x-secret": "s" })),
    );
    const fetched = await rig.fetch("/");
    if (fetched.outcome !== "body") throw new Error(fetched.outcome);
    expect(fetched.body.buffer.byteLength).toBe(fetched.body.length);
    expect(structuredClone(fetched)).toEqual(fetched);
  });

  test("a response is the same in one piece and byte by byte", async () => {
    await using rig = await startClientRig(({ path }, socket) => {
      const bytes = jsonResponse(brand);
      if (path === "/whole") socket.write(bytes);
      else for (const byte of bytes) socket.write(Uint8Array.of(byte));
    });
    const [whole, drips] = await Promise.all([rig.fetch("/whole"), rig.fetch("/drips")]);
    expect(drips).toEqual(whole);
  });

  test.each([
    "application/json",
    "Application/JSON ; charset=utf-8",
    "application/hal+json",
    "application/vnd.x.v1+json",
  ])("a response may have the content type %s", async (type) => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse(brand, { "content-type": type })),
    );
    expect((await rig.fetch("/")).outcome).toBe("body");
  });
});

describe("requests", () => {
  test.each([
    ["a token", bearerToken("t0ken"), "bearer t0ken"],
    ["an application's key and secret", appCredential("key", "s3cret"), "app key:s3cret"],
    ["no credential", null, undefined],
  ])("a request sends %s and always the same Accept header", async (_name, credential, authorization) => {
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse(brand)), { credential });
    await rig.fetch("/");
    const headers = rig.server.requests[0]?.headers;
    expect(headers).toMatchObject({
      accept: "application/json",
      "accept-encoding": "gzip, br, zstd",
      "user-agent": "armoire",
    });
    expect(headers?.authorization).toBe(authorization);
    expect(headers?.["if-none-match"]).toBeUndefined();
  });

  test.each([
    "https://evil.example/",
    "//evil.example/",
    "http://127.0.0.1:1/",
    "javascript:alert(1)",
    "https://user:canary@evil.example/",
    "",
  ])("a request is never sent to %j", async (url) => {
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse(brand)));
    const failure = await failureOf(rig.client.fetch({ url }));
    expect(failure).toMatchObject({ code: "link-refused", next: "skip" });
    expect(`${failure.message} ${failure.url}`).not.toContain("canary");
    expect(rig.server.requests).toEqual([]);
  });

  test("requests run in parallel over at most the allowed number of sockets", async () => {
    await using rig = await startClientRig(({ path }, socket) => socket.write(jsonResponse({ path })), {
      connections: 3,
    });
    const paths = Array.from({ length: 50 }, (_, index) => `/${index}`);
    const fetched = await Promise.all(paths.map((path) => rig.fetch(path)));
    expect(fetched.map(jsonOf)).toEqual(paths.map((path) => ({ path })));
    expect(rig.server.connectionCount()).toBe(3);
  });
});

describe("conditional requests", () => {
  const etag = '"a1"';

  test("304 gives no body, with or without an ETag", async () => {
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(304)));
    const fetched = await rig.fetch("/a", { etag });
    expect(fetched).toEqual({ outcome: "not-modified", fetchedAt: "2026-01-15T12:00:00.000Z" });
    expect(rig.server.requests[0]?.headers["if-none-match"]).toBe(etag);
  });

  test("a 304 with the weak form of the ETag is accepted", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(rawResponse(304, { etag: `W/${etag}` })),
    );
    expect(await rig.fetch("/a", { etag })).toMatchObject({ outcome: "not-modified" });
  });

  test.each([
    ["to an unconditional request", undefined, {}],
    ["about another representation", etag, { etag: '"other"' }],
  ])("a request is repeated once without a validator after a 304 %s", async (_name, sent, headers) => {
    await using rig = await startClientRig(({ index }, socket) =>
      socket.write(index === 0 ? rawResponse(304, headers) : jsonResponse(brand)),
    );
    expect((await rig.fetch("/a", { etag: sent ?? null })).outcome).toBe("body");
    expect(rig.server.requests.map(({ headers }) => headers["if-none-match"])).toEqual([sent, undefined]);
  });

  test("a fetch fails after two unexpected 304 to unconditional requests", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(rawResponse(304, { etag: '"other"' })),
    );
    expect(await failureOf(rig.fetch("/a", { etag }))).toMatchObject({
      code: "unexpected-not-modified",
      next: "skip",
      status: 304,
    });
    expect(rig.server.requests).toHaveLength(2);
  });

  test("the body of a 304 is not read as the next response", async () => {
    await using rig = await startClientRig(({ index }, socket) => {
      if (index > 0) return socket.write(jsonResponse(brand));
      return socket.write(rawResponse(304, { "content-length": "200" }, jsonResponse({ forged: true })));
    });
    expect((await rig.fetch("/a", { etag })).outcome).toBe("not-modified");
    expect(jsonOf(await rig.fetch("/b"))).toMatchObject(brand);
  });

  test.each(["", "a\r\nx: y", "ä", "a".repeat(5000)])(
    "an ETag that no header can contain is not sent: %j",
    async (bad) => {
      await using rig = await startClientRig((_, socket) => socket.write(jsonResponse(brand)));
      await rig.fetch("/a", { etag: bad });
      expect(rig.server.requests[0]?.headers["if-none-match"]).toBeUndefined();
    },
  );
});

describe("gone resources", () => {
  test.each([
    [404, jsonResponse({ message: "Not found" }, {}, 404)],
    [410, jsonResponse({}, {}, 410)],
    [404, jsonResponse("Not found", {}, 404)],
    [404, jsonResponse(null, {}, 404)],
    [410, jsonResponse([], {}, 410)],
    [404, rawResponse(404)],
    [404, rawResponse(404, { "content-type": "application/json" })],
  ] as const)("a gone resource is recognised by a %d of the API (%#)", async (_status, response) => {
    await using rig = await startClientRig((_, socket) => socket.write(response));
    expect(await rig.fetch("/a")).toEqual({ outcome: "gone", fetchedAt: "2026-01-15T12:00:00.000Z" });
  });

  test.each([
    rawResponse(404, { "content-type": "text/html" }, "<h1>Not found</h1>"),
    rawResponse(404, { "content-type": "text/html" }),
    rawResponse(404, {}, "not found"),
    rawResponse(404, { "content-type": "application/json" }, "<h1>Not found</h1>"),
    rawResponse(410, { "content-type": "application/json", "content-encoding": "rot13" }, "{}"),
  ])("a gone resource is not recognised by an error page of an intermediary (%#)", async (response) => {
    await using rig = await startClientRig((_, socket) => socket.write(response));
    expect(await failureOf(rig.fetch("/a"))).toMatchObject({ code: "not-the-api", next: "skip" });
  });
});

describe("base URL", () => {
  test.each([
    "",
    "api.example.org",
    "/api",
    "ftp://api.example.org/",
    "https://user:canary@api.example.org/",
    "https://canary@h/",
    "https://h/?token=canary",
    "https://h/?",
    "https://h/#canary",
    "canary:h",
  ])("the base URL %j is refused, and not repeated", (baseUrl) => {
    expect(() => openServiceClient({ baseUrl })).toThrow(ServiceSettingsError);
    expect(() => openServiceClient({ baseUrl })).not.toThrow(/canary/);
  });
});
