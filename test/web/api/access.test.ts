/** Who may read what: the user's resources, other origins' pages, other addresses than loopback. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { createApi } from "../../../src/web/api/create-api.ts";
import { createAccessKey } from "../../../src/web/session/access-key.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { authorization, key, serveApi } from "./support/serve-api.ts";

let rig: Rig;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let accountFile = "";
let braPath = "";

beforeAll(async () => {
  rig = await startRig({ brands: 4, models: 10, sizes: 20 });
  folder = await temporaryFolder();
  accountFile = join(folder.path, "account.sqlite");
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  await rig.sync({ file: accountFile, area: "account", credential });
  await rig.sync();
  const bras = await fetch(`${rig.sandbox.url}me/bras/`, {
    headers: { authorization: `bearer ${rig.sandbox.users[0]?.token}` },
  });
  const { collection } = (await bras.json()) as { collection: { href: string }[] };
  braPath = new URL(collection[0]?.href ?? "").pathname;
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const serve = (options: object = {}) =>
  serveApi({ findCatalogue: () => rig.file, findAccount: () => accountFile, clock: rig.clock, ...options });

describe("an account", () => {
  it("its resources are sent with the key, and are not to be stored", async () => {
    await using api = await serve();
    for (const path of ["/", "/me/", "/me/bras/", braPath, "/me/measurements/"]) {
      const response = await api.get(path, authorization);
      expect([path, response.status]).toEqual([path, 200]);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "cache-control": "no-store",
        vary: "Authorization",
      });
    }
    const tag = (await api.get("/me/", authorization)).headers.get("etag") ?? "";
    const unchanged = await api.get("/me/", { ...authorization, "if-none-match": tag });
    expect([unchanged.status, unchanged.headers.get("cache-control")]).toEqual([304, "no-store"]);
    expect((await api.get("/me/", { authorization: `BEARER  ${key}` })).status).toBe(200);
  });

  it("the key also opens the catalogue, whose resources may be stored", async () => {
    await using api = await serve();
    const response = await api.get("/brands/", authorization);
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-cache"]);
  });

  it("without the key, nothing shows whether a resource of the account exists", async () => {
    await using api = await serve();
    const headersOf = (response: Response) => {
      const { date, ...others } = Object.fromEntries(response.headers);
      return others;
    };
    const expected = await api.get("/me/");
    const body = await expected.text();
    expect(JSON.parse(body)).toEqual({ message: "Not authenticated", spec: expect.stringContaining("http") });
    const paths = ["/me/bras/", braPath, "/me/bras/999999/", "/nothing/"];
    for (const path of paths) {
      for (const headers of [
        {},
        { authorization: "bearer canary-wrong" },
        { authorization: `app ${key}:canary-secret` },
        { authorization: key },
        { authorization: `bearer ${key}x` },
        { "if-none-match": "*" },
      ]) {
        const response = await api.get(path, headers);
        expect([path, response.status]).toEqual([path, 401]);
        expect(await response.text()).toBe(body);
        expect(headersOf(response)).toEqual(headersOf(expected));
      }
    }
  });

  it("with the key, unknown is unknown", async () => {
    await using api = await serve();
    expect((await api.get("/me/bras/999999/", authorization)).status).toBe(404);
    expect((await api.get("/nothing/", authorization)).status).toBe(404);
  });

  it("only after a wrong key, the answer has to wait", async () => {
    const waits: number[] = [];
    const sleep = async (millis: number) => void waits.push(millis);
    await using api = await serve({ key: createAccessKey(key, { sleep }) });
    await api.get("/me/");
    await api.get("/me/", authorization);
    await api.get("/brands/", { authorization: "bearer canary-wrong" });
    expect(waits).toEqual([]);
    await api.get("/me/", { authorization: "bearer canary-wrong" });
    expect(waits).toEqual([1000]);
  });

  it("a removed account is closed at once", async () => {
    await using copy = await temporaryFolder();
    const file = join(copy.path, "account.sqlite");
    const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
    await rig.sync({ file, area: "account", credential });
    await using api = await serve({ findAccount: () => file });
    expect((await api.get("/me/", authorization)).status).toBe(200);
    rmSync(file);
    expect((await api.get("/me/", authorization)).status).toBe(504);
    expect((await api.get("/brands/", authorization)).status).toBe(200);
  });

  it("a list that the token may not read is refused as by the service", async () => {
    await using other = await startRig({ brands: 2, models: 2, sizes: 2, missingScope: "403" });
    const [user] = other.sandbox.users;
    other.sandbox.editUser(user?.username ?? "", { scopes: ["identity", "measurements"] });
    await using files = await temporaryFolder();
    const file = join(files.path, "account.sqlite");
    await other.sync({ file, area: "account", credential: bearerToken(user?.token ?? "") });
    await using api = await serveApi({ findCatalogue: () => other.file, findAccount: () => file });
    const response = await api.get("/me/bras/", authorization);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining("scope bras") });
    expect((await api.get("/me/measurements/", authorization)).status).toBe(200);
  });

  it("a mirror of another service, or of a catalogue, is no account of this one", async () => {
    const options = {
      findCatalogue: () => rig.file,
      key: createAccessKey(key, rig.clock),
      host: "127.0.0.1",
    };
    expect(() => createApi({ ...options, findAccount: () => rig.file })).toThrow(
      /of a catalogue, not of an account/,
    );
  });
});

describe("another address than loopback", () => {
  it("needs the key for everything", async () => {
    await using api = await serve({ host: "10.0.0.5" });
    for (const path of ["/", "/brands/", "/rate-limit/", "/nothing/"])
      expect((await api.get(path)).status).toBe(401);
    expect((await api.get("/brands/", authorization)).status).toBe(200);
    expect((await api.request("/brands/", { host: "10.0.0.5:8901", ...authorization })).status).toBe(200);
    expect((await api.request("/brands/", { host: "10.0.0.6:8901", ...authorization })).status).toBe(421);
  });
});

describe("pages of other origins", () => {
  const page = "https://app.example";
  const options = { corsOrigins: [page, "http://localhost:5173"] };
  const preflight = (api: { readonly origin: string }, origin: string, path = "/me/") =>
    fetch(api.origin + path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization,if-none-match",
      },
    });

  it("a browser learns that an allowed page may send the key and a condition", async () => {
    await using api = await serve(options);
    const response = await preflight(api, page);
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "access-control-allow-origin": page,
      "access-control-allow-methods": "GET,HEAD",
      "access-control-allow-headers": "Authorization,If-None-Match,If-Modified-Since",
      "access-control-max-age": "600",
    });
  });

  it("an allowed page may read every response, and the headers that clients need", async () => {
    await using api = await serve(options);
    for (const [path, status] of [
      ["/brands/", 200],
      ["/me/", 401],
      ["/rate-limit/", 200],
    ] as const) {
      const response = await api.get(path, { origin: page });
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get("access-control-allow-origin")).toBe(page);
      expect(response.headers.get("vary")).toContain("Origin");
      expect(response.headers.get("access-control-expose-headers")?.toLowerCase().split(",")).toEqual(
        expect.arrayContaining(["etag", "retry-after", "x-ratelimit-remaining"]),
      );
    }
    const tag = (await api.get("/brands/")).headers.get("etag") ?? "";
    const unchanged = await api.get("/brands/", { origin: page, "if-none-match": tag });
    expect([unchanged.status, unchanged.headers.get("access-control-allow-origin")]).toEqual([304, page]);
  });

  it.each(["https://evil.example", "null", `${page}.evil.example`])("%s may read nothing", async (origin) => {
    await using api = await serve(options);
    for (const response of [await preflight(api, origin), await api.get("/brands/", { origin })])
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("with *, any page may read the catalogue", async () => {
    await using api = await serve({ corsOrigins: ["*"] });
    const response = await api.get("/brands/", { origin: "https://any.example" });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const elsewhere = await api.request("/brands/", { host: "evil.example", origin: "https://any.example" });
    expect(elsewhere.status).toBe(421);
  });

  it("without the option, no page may", async () => {
    await using api = await serve();
    expect((await preflight(api, page)).status).toBe(405);
    expect(
      (await api.get("/brands/", { origin: page })).headers.get("access-control-allow-origin"),
    ).toBeNull();
  });
});
