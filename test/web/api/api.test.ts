/** What the API answers, request by request, from a mirror with known bodies. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { ResourceResult } from "../../../src/mirror/ingest.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import type { ApiOptions } from "../../../src/web/api/create-api.ts";
import { beginRun, closeRun, crawl, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { baseUrl, entity, page, root, urlOf, worldOf } from "../../mirror/support/world.ts";
import { serveApi } from "./support/serve-api.ts";

const spec = "https://docs.example/";
const bodies = {
  "/": { ...root({ brands: urlOf("brands/"), me: urlOf("me/"), rate_limit: urlOf("limit/") }), spec },
  "brands/": page(["brands/ada/", "brands/bea/"], "brands/?page=2"),
  "brands/?page=2": page(["brands/cleo/"]),
  "brands/ada/": entity(
    { name: "Ada", slug: "ada" },
    { models: "models/", related: urlOf("brands/ada/related/"), else: urlOf("else?q=1") },
  ),
  "brands/ada/models/": page([]),
  "brands/bea/": `{ "rel":"entity", "links":{"models":null}, "meta":{}, "body":{"name":"B\\u00e9a","size":1.50,"site":"https:\\/\\/catalogue.example\\/b?q#f"} }`,
  "brands/cleo/": entity({ name: "Cleo" }),
};

async function startServed(options: Partial<ApiOptions> = {}, world = worldOf(bodies)) {
  const rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, world);
  const api = await serveApi({ findCatalogue: () => rig.file, ...options });
  return {
    ...{ rig, mirror, api, world },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
}

/** Stores what the service sent for a URL. */
function store(mirror: MirrorWriter, path: string, result: object): void {
  const id = mirror.db
    .prepare<[string], number>("select id from _resource where url = ?")
    .pluck()
    .get(urlOf(path));
  const fetched = { resourceId: id, fetchedAt: "2026-01-16T12:00:00.000Z", ...result } as ResourceResult;
  const runId = beginRun(mirror);
  mirror.ingest([fetched], runId);
  closeRun(mirror, runId);
}

const headers = { sentAt: null, modifiedAt: null, contentType: null, link: null };

describe("content", () => {
  it("a body is as the service sent it, with this server in its URLs", async () => {
    await using served = await startServed();
    const { api, world } = served;
    for (const path of Object.keys(bodies)) {
      const response = await api.get(new URL(urlOf(path)).pathname + new URL(urlOf(path)).search);
      expect(response.status).toBe(200);
      const sent = world.get(urlOf(path)) ?? "";
      const [scheme, host] = api.origin.split("://");
      const expected = sent
        .replaceAll("https://catalogue.example", api.origin)
        .replace("https:\\/\\/catalogue.example", `${scheme}:\\/\\/${host}`);
      expect(await response.text()).toBe(expected);
    }
  });

  it("the type and the links of the service's headers are sent, and the time of the last change", async () => {
    await using served = await startServed();
    store(served.mirror, "brands/cleo/", {
      outcome: "body",
      status: 200,
      etag: null,
      headers: {
        ...headers,
        modifiedAt: "2026-01-02T03:04:05.000Z",
        contentType: "application/vnd.service+json; v=2",
        link: `<${urlOf("brands/")}>; rel="up"`,
      },
      body: Buffer.from(JSON.stringify(entity({ name: "Cleo Two" }))),
    });
    const response = await served.api.get("/brands/cleo/");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/vnd.service+json; v=2",
      link: `<${served.api.origin}/brands/>; rel="up"`,
      "last-modified": "Fri, 02 Jan 2026 03:04:05 GMT",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
    });
    const since = (date: string) => served.api.get("/brands/cleo/", { "if-modified-since": date });
    expect((await since("Fri, 02 Jan 2026 03:04:05 GMT")).status).toBe(304);
    expect((await since("Fri, 02 Jan 2026 03:04:04 GMT")).status).toBe(200);
    expect((await since("yesterday")).status).toBe(200);
  });

  it("HEAD has the headers of GET and no body", async () => {
    await using served = await startServed();
    const get = await served.api.get("/brands/ada/");
    const head = await fetch(`${served.api.origin}/brands/ada/`, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    const withoutDate = (response: Response) => {
      const { date, connection, "keep-alive": _, ...others } = Object.fromEntries(response.headers);
      return others;
    };
    expect(withoutDate(head)).toEqual(withoutDate(get));
    expect(head.headers.get("content-length")).toBe(String((await get.arrayBuffer()).byteLength));
  });

  it("URLs have the host name that the client used", async () => {
    await using served = await startServed();
    const { port } = new URL(served.api.origin);
    const response = await fetch(`http://localhost:${port}/brands/`);
    expect(await response.json()).toMatchObject({
      meta: { next: `http://localhost:${port}/brands/?page=2` },
    });
  });

  it("a new run's bodies appear, and what it found gone is gone", async () => {
    await using served = await startServed();
    const { api, mirror, world } = served;
    // Content that was sent before is kept until the mirror changes.
    for (const path of ["/brands/ada/", "/brands/cleo/", "/brands/ada/"])
      expect((await api.get(path)).status).toBe(200);
    world.set(urlOf("brands/ada/"), JSON.stringify(entity({ name: "Ada Two" })));
    world.delete(urlOf("brands/cleo/"));
    world.set(urlOf("brands/?page=2"), JSON.stringify(page([])));
    crawl(mirror, world, { approve: true });
    expect(await (await api.get("/brands/ada/")).json()).toMatchObject({ body: { name: "Ada Two" } });
    expect((await api.get("/brands/cleo/")).status).toBe(410);
  });
});

describe("entity tags", () => {
  it("the same content has the same tag, and another content another one", async () => {
    await using served = await startServed();
    const { api, mirror, world } = served;
    const tag = async () => (await api.get("/brands/ada/")).headers.get("etag") ?? "";
    const first = await tag();
    expect(first).toMatch(/^"[\w-]{43}"$/);
    expect((await api.get("/brands/bea/")).headers.get("etag")).not.toBe(first);
    world.set(urlOf("brands/ada/"), JSON.stringify(entity({ name: "Ada Two" })));
    crawl(mirror, world);
    expect(await tag()).not.toBe(first);
    world.set(urlOf("brands/ada/"), JSON.stringify(bodies["brands/ada/"]));
    crawl(mirror, world);
    expect(await tag()).toBe(first);
  });

  it("a request with the current tag is answered with 304, without a body", async () => {
    await using served = await startServed();
    const tag = (await served.api.get("/brands/ada/")).headers.get("etag") ?? "";
    const conditional = (ifNoneMatch: string) =>
      served.api.get("/brands/ada/", { "if-none-match": ifNoneMatch });
    for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag} , "more"`, "*"]) {
      const response = await conditional(condition);
      expect({ condition, status: response.status }).toEqual({ condition, status: 304 });
      expect(response.headers.get("etag")).toBe(tag);
      expect(await response.text()).toBe("");
    }
    for (const condition of ['"other"', tag.slice(1, -1), "", `"x${tag.slice(1)}`]) {
      const response = await conditional(condition);
      expect({ condition, status: response.status }).toEqual({ condition, status: 200 });
    }
  });
});

describe("what is not held", () => {
  it("what was never fetched is answered with 504, and what nothing links to with 404", async () => {
    const { "brands/bea/": _, ...others } = bodies;
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    crawl(mirror, worldOf(others), { maxBatches: 2 });
    await using api = await serveApi({ findCatalogue: () => rig.file });
    for (const path of ["/brands/bea/", "/brands/ada/"]) {
      const pending = await api.get(path);
      expect(pending.status).toBe(504);
      expect(await pending.json()).toEqual({ message: expect.stringContaining("Not held"), spec });
    }
    for (const path of ["/brands/dora/", "/brands", "/brands/?page=3", "/x"]) {
      const unknown = await api.get(path);
      expect(unknown.status).toBe(404);
      expect(await unknown.json()).toEqual({ message: "Not found", spec });
    }
  });

  it("a link that syncs do not follow leads to 504", async () => {
    await using served = await startServed();
    const statusOf = async (path: string) => (await served.api.get(path)).status;
    expect(await statusOf("/brands/ada/related/")).toBe(504);
    expect(await statusOf("/else?q=1")).toBe(504);
    for (const path of [
      "/brands/ada/relate",
      "/brands/ada/related/x",
      "/brands/related/",
      "/else",
      "/+related/",
    ])
      expect(await statusOf(path)).toBe(404);
  });

  it("the plan says when it will be held", async () => {
    const { "brands/bea/": _, ...others } = bodies;
    await using rig = await startMirrorRig();
    crawl(await rig.write(), worldOf(others), { maxBatches: 2 });
    const days = { atLimit: 3, withApp: 1, withNone: 9 };
    const depth = { depth: "brands" as const, remainingRequests: 1, days };
    let readings = 0;
    await using api = await serveApi({
      findCatalogue: () => rig.file,
      readForecast() {
        readings++;
        return { depths: [{ ...depth, kinds: [{ kind: "brand", known: 3, held: 0, expected: 3 }] }] };
      },
    });
    expect((await api.get("/brands/bea/")).headers.get("retry-after")).toBe(String(3 * 86_400));
    expect((await api.get("/brands/ada/")).headers.get("retry-after")).toBe(String(3 * 86_400));
    expect((await api.get("/brands/ada/related/")).headers.get("retry-after")).toBeNull();
    expect(readings).toBe(1);
  });

  it("what is gone is answered with 410 and the time since when", async () => {
    await using served = await startServed();
    const { api, mirror } = served;
    store(mirror, "brands/cleo/", { outcome: "gone" });
    const goneSince = openMirrorReader(served.rig.file);
    const since = goneSince.db.prepare("select gone_at from brand where gone_at is not null").pluck().get();
    goneSince.close();
    const response = await api.get("/brands/cleo/");
    expect(response.status).toBe(410);
    expect(await response.json()).toEqual({ message: `Gone since ${since}`, spec, gone_since: since });
  });

  it("without a mirror everything is answered with 504, until there is one", async () => {
    await using rig = await startMirrorRig();
    await using api = await serveApi({ findCatalogue: () => rig.file });
    expect((await api.get("/")).status).toBe(504);
    crawl(await rig.write(), worldOf(bodies));
    expect((await api.get("/")).status).toBe(200);
  });

  it("a damaged body is answered with 500, reported and never sent", async () => {
    const errors: string[] = [];
    await using served = await startServed({ onError: (text) => errors.push(text) });
    served.mirror.db
      .prepare("update _content set codec = 'identity', body = ? where id = (select max(id) from _content)")
      .run(Buffer.from(JSON.stringify(entity({ name: "other" }))));
    const statuses = await Promise.all(
      ["/brands/ada/", "/brands/bea/", "/brands/cleo/", "/brands/?page=2", "/brands/ada/models/"].map(
        async (path) => (await served.api.get(path)).status,
      ),
    );
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 500]);
    expect(errors).toEqual([expect.stringContaining("damaged")]);
  });

  it.each([
    { through: "Hono", corsOrigins: ["*"] },
    { through: "no framework", corsOrigins: [] },
  ])("an unexpected error is answered with 500 and reported, through $through", async ({ corsOrigins }) => {
    const errors: string[] = [];
    let isBroken = false;
    const findCatalogue = () => {
      if (isBroken) throw new Error("the disk is gone");
      return null;
    };
    await using api = await serveApi({ findCatalogue, corsOrigins, onError: (text) => errors.push(text) });
    isBroken = true;
    const response = await api.get("/");
    expect([response.status, await response.text(), errors]).toEqual([500, "", ["the disk is gone"]]);
  });
});

describe("redirects", () => {
  const moved = { outcome: "body", status: 200, etag: null, headers } as const;

  it("a resource whose address redirected does so here, and its content is at the final address", async () => {
    await using served = await startServed();
    const { api, mirror } = served;
    const body = Buffer.from(JSON.stringify(entity({ name: "Cleo" }, { models: "models/" })));
    store(mirror, "brands/cleo/", { ...moved, finalUrl: urlOf("b/3/?x=1"), body });
    const redirect = await api.get("/brands/cleo/");
    expect([redirect.status, redirect.headers.get("location")]).toEqual([307, "/b/3/?x=1"]);
    const final = await api.get("/b/3/?x=1");
    expect(final.status).toBe(200);
    expect(await final.text()).toBe(body.toString());
    // A server that was not asked for the first address finds it too.
    await using fresh = await serveApi({ findCatalogue: () => served.rig.file });
    expect(await (await fresh.get("/b/3/?x=1")).text()).toBe(body.toString());
    expect((await fresh.get("/b/4/")).status).toBe(404);
  });

  it("two resources that redirected to each other do not do so for ever", async () => {
    await using served = await startServed();
    const { api, mirror } = served;
    const bodyOf = (name: string) => Buffer.from(JSON.stringify(entity({ name })));
    store(mirror, "brands/ada/", { ...moved, finalUrl: urlOf("brands/cleo/"), body: bodyOf("A") });
    store(mirror, "brands/cleo/", { ...moved, finalUrl: urlOf("brands/ada/"), body: bodyOf("C") });
    const response = await fetch(`${api.origin}/brands/ada/`);
    expect([response.status, response.redirected]).toEqual([200, true]);
  });
});

describe("requests", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("%s is not allowed", async (method) => {
    await using served = await startServed();
    const response = await fetch(`${served.api.origin}/brands/`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await response.json()).toEqual({ message: "Method not allowed", spec });
  });

  it("a locked mirror is answered with 503 and Retry-After, and is served again afterwards", async () => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    crawl(mirror, worldOf(bodies));
    mirror.close();
    const file = join(rig.folder, "later.sqlite");
    const errors: string[] = [];
    await using api = await serveApi({ findCatalogue: () => file, onError: (text) => errors.push(text) });
    copyFileSync(rig.file, file);
    const db = new Database(file);
    db.pragma("locking_mode = exclusive");
    db.exec("begin exclusive; create table held (a)");
    const locked = await api.get("/brands/ada/");
    expect([locked.status, locked.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await locked.json()).toEqual({
      message: "The mirror is locked. Try again in a moment.",
      spec: null,
    });
    expect(errors).toEqual([]);
    db.close();
    expect((await api.get("/brands/ada/")).status).toBe(200);
  });

  it("another host name is refused, unless it is allowed", async () => {
    await using served = await startServed({ allowedHosts: ["Api.Local"] });
    const statusFor = async (host: string) => (await served.api.request("/", { host })).status;
    expect(await statusFor("evil.example")).toBe(421);
    expect(await statusFor("127.0.0.1.evil.example")).toBe(421);
    expect(await statusFor("api.local:8901")).toBe(200);
    expect(await statusFor("localhost")).toBe(200);
    expect(await (await served.api.request("/", { host: "api.local:80" })).text()).toContain(
      `"http://api.local/`,
    );
  });

  it("the user's resources need a key, also if no account is served", async () => {
    await using served = await startServed();
    for (const headers of [{}, { authorization: "bearer canary-other" }]) {
      const response = await served.api.get("/me/", headers);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([
        401,
        'Bearer realm="armoire"',
      ]);
      expect(await response.json()).toEqual({ message: "Not authenticated", spec });
    }
  });

  it("a mirror of a service below a path is served below that path", async () => {
    await using rig = await startMirrorRig("https://catalogue.example/v0/");
    const at = (path: string) => `https://catalogue.example/v0/${path}`;
    const world = new Map([
      [at(""), JSON.stringify(root({ brands: "/v0/brands/" }))],
      [
        at("brands/"),
        JSON.stringify({ ...page([]), collection: [{ href: at("brands/a/") }, { href: "b/" }] }),
      ],
      [at("brands/a/"), JSON.stringify(entity({ logo: baseUrl }))],
      [at("brands/b/"), JSON.stringify(entity({ name: "B" }))],
    ]);
    crawl(await rig.write(), world);
    await using api = await serveApi({ findCatalogue: () => rig.file });
    expect(await (await api.get("/v0/")).json()).toMatchObject({ links: { brands: "/v0/brands/" } });
    expect(await (await api.get("/v0/brands/")).json()).toMatchObject({
      collection: [{ href: `${api.origin}/v0/brands/a/` }, { href: "b/" }],
    });
    expect(await (await api.get("/v0/brands/b/")).json()).toMatchObject({ body: { name: "B" } });
    expect((await api.get("/")).status).toBe(404);
  });
});
