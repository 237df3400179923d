/** Which requests the server of the pages accepts, and what browsers may do with its responses. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { createServer } from "../../src/web/server.ts";
import { createSessions } from "../../src/web/session/sessions.ts";
import type { WebServer } from "../../src/web/start-servers.ts";
import { linksIn, recordSleeps, send, startWebRig, type WebRig } from "./support/web-rig.ts";

let web: WebRig;
beforeAll(async () => {
  web = await startWebRig();
});
afterAll(() => web[Symbol.asyncDispose]());

const policy =
  "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const hostsOf = (port: string) => [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "localhost"];

it("a request must name a host of this machine", async () => {
  const { port } = new URL(web.server.url);
  for (const host of hostsOf(port)) {
    expect((await web.get("/brands", { headers: { host } })).status, host).toBe(200);
  }
  for (const host of [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "0.0.0.0",
    "-",
  ]) {
    const { status, body } = await web.get("/brands", { headers: { host } });
    expect([host, status >= 400 && status < 500]).toEqual([host, true]);
    expect(body).not.toContain("<table");
  }
});

it("a request whose address is of another host is refused, whatever its Host", async () => {
  const { host } = new URL(web.server.url);
  for (const path of ["/brands", "/brands.csv", "/nothing"])
    expect((await web.get(`http://evil.example${path}`, { headers: { host } })).status, path).toBe(403);
  expect((await web.get(`http://${host}/brands`, { headers: { host } })).status).toBe(200);
});

it("the host is checked before assets, downloads, sessions and unknown paths", async () => {
  const style = linksIn((await web.get("/")).body).find((href) => href.endsWith(".css")) ?? "";
  for (const path of [style, "/brands.csv", "/nothing", "/session"])
    expect((await web.get(path, { headers: { host: "evil.example" } })).status, path).toBe(403);
});

it.each(["PUT", "DELETE", "PATCH", "OPTIONS", "POST"])("%s is refused", async (method) => {
  const { status, headers } = await web.get("/brands", { method });
  expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
});

it("HEAD has the headers of GET and no body", async () => {
  for (const path of ["/brands", "/brands.csv"]) {
    const got = await web.get(path);
    const head = await web.get(path, { method: "HEAD" });
    expect([path, head.status, head.body]).toEqual([path, 200, ""]);
    expect(head.headers["content-type"]).toBe(got.headers["content-type"]);
  }
});

it("every response restricts what the browser does with it", async () => {
  const style = linksIn((await web.get("/")).body).find((href) => href.endsWith(".css")) ?? "";
  for (const path of ["/", "/brands", "/brands.json", "/nothing", style, "/brands?as-of=nonsense"]) {
    const { headers } = await web.get(path);
    expect([path, headers["content-security-policy"]]).toEqual([path, policy]);
    expect([path, headers["x-content-type-options"]]).toEqual([path, "nosniff"]);
    expect([path, headers["referrer-policy"]]).toEqual([path, "no-referrer"]);
    expect([path, headers["cross-origin-resource-policy"]]).toEqual([path, "same-origin"]);
  }
});

it("pages have no inline style, script or event handler", async () => {
  for (const path of ["/", "/brands", "/models", "/search?q=a", "/nothing"]) {
    const { body } = await web.get(path);
    expect([path, body.match(/<style|<script(?! src=)|\sstyle=|\son\w+=/gi)]).toEqual([path, null]);
  }
});

it("assets have addresses that change with their contents, so they may be kept", async () => {
  const { body } = await web.get("/");
  const paths = [...body.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(paths).toHaveLength(3);
  for (const path of paths) {
    const { status, headers } = await web.get(path);
    expect([path, status, headers["cache-control"]]).toEqual([
      path,
      200,
      "public, max-age=31536000, immutable",
    ]);
  }
});

describe("on another host than loopback", () => {
  let server: WebServer;
  let sleeps: number[];
  beforeAll(async () => {
    const recorded = recordSleeps(web.rig.clock);
    sleeps = recorded.sleeps;
    server = await createServer({
      findCatalogue: () => web.rig.file,
      ...{ port: 0, host: "0.0.0.0", clock: recorded.clock },
    });
  });
  afterAll(() => server.close());

  const origin = () => `http://127.0.0.1:${new URL(server.url).port}`;
  const exchange = (key: string, next = "/brands", headers: Record<string, string> = { origin: origin() }) =>
    send(server, "/session", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: String(new URLSearchParams({ key, next })),
    });

  it("everything needs the key", async () => {
    for (const path of ["/", "/brands", "/brands.csv", "/search.json?q=a", "/events/mirror", "/nothing"]) {
      const { status, body } = await send(server, path);
      expect([path, status]).toEqual([path, 403]);
      expect(body).toContain('name="key"');
    }
  });

  it("the key opens a session, whose cookie names the port and only this server's pages get", async () => {
    const { status, headers } = await exchange(server.key, "/brands?q=a");
    expect([status, headers.location]).toEqual([303, "/brands?q=a"]);
    const [cookie = ""] = headers["set-cookie"] ?? [];
    const { port } = new URL(server.url);
    expect(cookie).toMatch(new RegExp(`^armoire-${port}=[\\w-]{22}; `));
    expect(cookie.split("; ").slice(1).sort()).toEqual(["HttpOnly", "Path=/", "SameSite=Strict"]);
    const session = { cookie: cookie.split(";")[0] ?? "" };
    const page = await send(server, "/brands", { headers: session });
    expect([page.status, page.headers["cache-control"]]).toEqual([200, "no-store"]);
    expect((await send(server, "/brands", { headers: { cookie: `${session.cookie}x` } })).status).toBe(403);
  });

  it("a wrong key opens nothing, and each one waits longer", async () => {
    sleeps.length = 0;
    for (let n = 0; n < 3; n++) {
      const { status, headers } = await exchange("wrong");
      expect([status, headers["set-cookie"]]).toEqual([403, undefined]);
    }
    expect(sleeps).toEqual([500, 1000, 2000]);
  });

  it("the key is accepted from a page of this server only", async () => {
    const forgeries: Record<string, string>[] = [{ origin: "http://evil.example" }, { origin: "null" }, {}];
    for (const headers of forgeries) {
      const { status, headers: received } = await exchange(server.key, "/", headers);
      expect([headers, status, received["set-cookie"]]).toEqual([headers, 403, undefined]);
    }
  });

  it("a session leads to a page of this server, whatever the form says", async () => {
    for (const next of [
      ...["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"],
      ...["/.//evil.example", "/a/..//evil.example", "/.\\/evil.example"],
    ])
      expect([next, (await exchange(server.key, next)).headers.location]).toEqual([next, "/"]);
  });

  it("a form that is too large is refused", async () => {
    expect((await exchange("x".repeat(10_000))).status).toBe(413);
  });
});

it("while many wrong keys wait, further keys are not compared", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sessions = createSessions({ ...systemClock, sleep: () => promise });
  const wrong = Array.from({ length: 8 }, () => sessions.open("wrong"));
  expect(await sessions.open(sessions.key)).toBe("busy");
  resolve();
  expect(await Promise.all(wrong)).toEqual(Array.from({ length: 8 }, () => null));
  const token = await sessions.open(sessions.key);
  expect(sessions.has(String(token))).toBe(true);
});

it("a connection gets 100 responses, and everything else that it sends is refused without being read", async () => {
  const { port } = new URL(web.server.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`HEAD /nothing HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(300));
  let received = "";
  const count = (status: number) => received.split(`HTTP/1.1 ${status} `).length - 1;
  for await (const chunk of socket.setEncoding("latin1")) {
    received += chunk;
    if (count(404) + count(503) === 300) break;
  }
  expect([count(404), count(503)]).toEqual([100, 200]);
});
