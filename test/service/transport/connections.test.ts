import type { Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openServiceClient, type ServiceClientOptions } from "../../../src/service/client.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { jsonResponse, rawResponse, startRawServer } from "../../support/raw-server.ts";
import { failureOf, fakeClock, jsonOf, startClientRig } from "../support/client.ts";
import { selfSigned } from "../support/self-signed.ts";

afterEach(() => vi.unstubAllEnvs());

/** The error of a fetch from an origin. */
async function failureAt(origin: string, options: Partial<ServiceClientOptions> = {}) {
  const service = openServiceClient({ baseUrl: origin, clock: fakeClock(), ...options });
  try {
    return await failureOf(service.fetch({ url: `${origin}/` }));
  } finally {
    await service.close();
  }
}

describe("no connection", () => {
  test("a refused connection is retried, then reported", async () => {
    const server = await startRawServer(() => {});
    await server[Symbol.asyncDispose]();
    const failure = await failureAt(server.origin);
    expect(failure).toMatchObject({ code: "unreachable", next: "retry", status: null });
    expect(failure.message).toBe(`${server.origin}/: the connection was refused (ECONNREFUSED)`);
  });

  test("an unknown host name is not retried at once", async () => {
    const clock = fakeClock();
    const failure = await failureAt("http://nowhere.invalid", { clock });
    expect(failure.next).toBe("retry");
    expect(["host-not-found", "unreachable"]).toContain(failure.code);
    if (failure.code === "host-not-found") expect(clock.sleeps).toEqual([]);
  });
});

describe("broken connections", () => {
  test.each([
    ["is closed before the answer", (socket: Socket) => socket.end(), "connection-lost"],
    ["is reset before the answer", (socket: Socket) => socket.resetAndDestroy(), "connection-lost"],
    [
      "is reset within the body",
      (socket: Socket) =>
        socket.write(
          rawResponse(200, { "content-type": "application/json", "content-length": "9" }, "{"),
          () => socket.resetAndDestroy(),
        ),
      "incomplete-body",
    ],
    [
      "speaks something else",
      (socket: Socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"),
      "malformed-response",
    ],
    [
      "has broken headers",
      (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\nbad header\r\n\r\n"),
      "malformed-response",
    ],
    [
      "switches protocols",
      (socket: Socket) => socket.write("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
      "connection-lost",
    ],
  ] as const)("a connection that breaks and %s is retried", async (_name, response, code) => {
    await using rig = await startClientRig(
      ({ path, index }, socket) =>
        void (path === "/always" || index === 0 ? response(socket) : socket.write(jsonResponse({}))),
    );
    expect((await rig.fetch("/first")).outcome).toBe("body");
    expect(await failureOf(rig.fetch("/always"))).toMatchObject({ code, next: "retry" });
    expect(rig.server.requests).toHaveLength(2 + 4);
  });

  test("a connection that breaks while idle costs at most a retry", async () => {
    await using rig = await startClientRig(
      (_, socket) => void socket.write(jsonResponse({}), () => socket.destroy()),
    );
    for (let count = 0; count < 10; count++) expect((await rig.fetch("/")).outcome).toBe("body");
  });

  test("bytes after a response are not read as part of the next one", async () => {
    const forged = jsonResponse({ forged: true });
    await using rig = await startClientRig(({ index }, socket) =>
      socket.write(index === 0 ? Buffer.concat([jsonResponse({ index }), forged]) : jsonResponse({ index })),
    );
    const values = [];
    for (let count = 0; count < 3; count++) {
      const fetched = await rig.fetch("/");
      values.push(jsonOf(fetched));
    }
    expect(values).not.toContainEqual({ forged: true });
  });
});

describe("certificates", () => {
  const credential = bearerToken("canary-token");

  test.each([undefined, "0"])("TLS is verified, also with NODE_TLS_REJECT_UNAUTHORIZED=%s", async (value) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", value);
    await using server = await startRawServer((_, socket) => socket.write(jsonResponse({})), {
      tls: selfSigned,
    });
    expect(await failureAt(server.origin, { credential })).toMatchObject({
      code: "tls-failed",
      next: "retry",
    });
    expect(server.requests).toEqual([]);
    expect(server.connectionCount()).toBe(1);
  });

  test("TLS to a plain HTTP server fails and sends nothing unencrypted", async () => {
    await using server = await startRawServer((_, socket) => socket.write(jsonResponse({})));
    const origin = server.origin.replace("http:", "https:");
    expect(
      await failureAt(origin, { credential, limits: { headerTimeoutMillis: 200 }, retry: { maxRetries: 0 } }),
    ).toMatchObject({
      next: "retry",
    });
    expect(server.requests).toEqual([]);
  });
});

describe("proxies", () => {
  test("a proxy in the environment is not used: only the base URL's origin is contacted", async () => {
    await using proxy = await startRawServer((_, socket) => socket.write(jsonResponse({ from: "proxy" })));
    for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]) vi.stubEnv(name, proxy.origin);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse({ from: "service" })));
    expect(jsonOf(await rig.fetch("/"))).toMatchObject({ from: "service" });
    expect(proxy.connectionCount()).toBe(0);
  });
});

describe("closing", () => {
  test("at close, running fetches finish and new ones are refused", async () => {
    await using rig = await startClientRig(
      (_, socket) => void setImmediate(() => socket.write(jsonResponse({}))),
    );
    const fetching = rig.fetch("/before");
    const closing = rig.client.close();
    expect((await fetching).outcome).toBe("body");
    await closing;
    expect(await failureOf(rig.fetch("/after"))).toMatchObject({ code: "closed", next: "retry" });
  });
});
