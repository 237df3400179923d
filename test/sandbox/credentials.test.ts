/** Credentials, scopes and the resources that they give access to. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { bearer, getEnvelope, hrefsOf, linkOf, send } from "./support/client.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ users: 6 });
});
afterAll(() => sandbox.close());

const tokenOf = (index: number): string => sandbox.users[index]?.token ?? "";

it("tokens and their scopes are derived from the seed", async () => {
  await using twin = await startSandbox({ users: 6 });
  expect(twin.users.map(({ token }) => token)).toEqual(sandbox.users.map(({ token }) => token));
  expect(new Set(sandbox.users.map(({ token }) => token)).size).toBe(6);
  expect(sandbox.users[0]?.scopes).toEqual(["identity", "email", "bras", "measurements"]);
  expect(new Set(sandbox.users.map(({ scopes }) => scopes.join(" "))).size).toBe(5);
});

describe.each(["", "no scheme", "bearer", "bearer wrong", "basic YTpi", "bearer  ", "app sandbox-app:wrong"])(
  "with %j",
  (value) => {
    it("a request reads the catalogue but nothing below /me/", async () => {
      const headers: Record<string, string> = value === "" ? {} : { Authorization: value };
      for (const path of ["me/", "me/bras/", "me/bras/1000000/", "me/measurements/"]) {
        const { status, bytes } = await send(sandbox.url + path, { headers });
        expect(status).toBe(401);
        expect(JSON.parse(bytes.toString())).toEqual({
          message: "Not authenticated",
          spec: expect.stringMatching(/^https:/),
        });
      }
      await getEnvelope(`${sandbox.url}brands/`, headers);
    });
  },
);

it.each(["bearer", "Bearer", "BEARER"])("the scheme %s is accepted", async (scheme) => {
  await getEnvelope(`${sandbox.url}me/`, { Authorization: `${scheme} ${tokenOf(0)}` });
});

it("a missing scope gives a null link, a 403 and no email", async () => {
  for (const { token, scopes } of sandbox.users) {
    const me = await getEnvelope(`${sandbox.url}me/`, bearer(token));
    expect("email" in (me.body ?? {})).toBe(scopes.includes("email"));
    for (const scope of ["bras", "measurements"] as const) {
      expect(me.links[scope] !== null).toBe(scopes.includes(scope));
      const { status, bytes } = await send(`${sandbox.url}me/${scope}/`, { headers: bearer(token) });
      expect(status).toBe(scopes.includes(scope) ? 200 : 403);
      if (status === 403)
        expect(JSON.parse(bytes.toString())).toEqual({ message: expect.stringContaining(scope) });
    }
  }
});

it.each([
  ["401", 401, "Refused"],
  ["403", 403, "Refused"],
  ["404", 404, "Not found"],
  ["not-authenticated", 200, "Not authenticated"],
] as const)("a missing scope may show only in the list: %s", async (missingScope, status, message) => {
  await using lenient = await startSandbox({ missingScope, unauthorizedStatus: 200, users: 3 });
  const token = lenient.users[2]?.token;
  const me = await getEnvelope(`${lenient.url}me/`, bearer(token));
  expect(me.links.measurements).toBe(`${lenient.url}me/measurements/`);
  const refused = await send(`${lenient.url}me/measurements/`, { headers: bearer(token) });
  expect({ status: refused.status, ...JSON.parse(refused.bytes.toString()) }).toMatchObject({
    status,
    message,
  });
  expect((await send(`${lenient.url}me/bras/`, { headers: bearer(token) })).status).toBe(200);
});

it("a user cannot read the bras of another user", async () => {
  const first = await getEnvelope(`${sandbox.url}me/bras/`, bearer(tokenOf(0)));
  const [href = ""] = hrefsOf(first);
  expect((await send(href, { headers: bearer(tokenOf(0)) })).status).toBe(200);
  expect((await send(href, { headers: bearer(tokenOf(1)) })).status).toBe(404);
  const second = await getEnvelope(`${sandbox.url}me/bras/`, bearer(tokenOf(1)));
  expect(hrefsOf(second).filter((own) => hrefsOf(first).includes(own))).toEqual([]);
});

it("private replies are not cacheable by shared caches and have their own ETags", async () => {
  const [a, b] = await Promise.all(
    [0, 1].map((index) => send(`${sandbox.url}me/`, { headers: bearer(tokenOf(index)) })),
  );
  expect(a?.headers.vary).toContain("Authorization");
  expect(a?.headers.etag).not.toBe(b?.headers.etag);
});

it("unauthenticated requests get the configured status", async () => {
  await using lenient = await startSandbox({ unauthorizedStatus: 200 });
  const { status, bytes } = await send(`${lenient.url}me/`);
  expect(status).toBe(200);
  expect(JSON.parse(bytes.toString())).toMatchObject({ message: "Not authenticated" });
});

it("the log contains the names of clients and no secrets", async () => {
  const { key, secret } = sandbox.app;
  sandbox.clearLog();
  await send(sandbox.url);
  await send(sandbox.url, { headers: { Authorization: `APP ${key}:${secret}` } });
  await send(sandbox.url, { headers: bearer(tokenOf(0)) });
  expect(sandbox.log().map(({ credential }) => credential)).toEqual(["none", `app:${key}`, "user:anna"]);
  expect(JSON.stringify(sandbox.log())).not.toContain(secret);
});

it("measurements are paginated in the opaque layout too", async () => {
  await using opaque = await startSandbox({ layout: "opaque", pagination: "cursor", pageSize: 2 });
  const headers = bearer(opaque.users[0]?.token);
  const me = await getEnvelope(linkOf(await getEnvelope(opaque.url), "me"), headers);
  let url: unknown = linkOf(me, "measurements");
  const hrefs: string[] = [];
  let total: unknown;
  while (typeof url === "string") {
    const page = await getEnvelope(url, headers);
    hrefs.push(...hrefsOf(page));
    total = page.meta.collection_total;
    url = page.meta.next;
  }
  expect(new Set(hrefs).size).toBe(total);
  for (const href of hrefs) await getEnvelope(href, headers);
});

describe("credentials in the query", () => {
  it("an application may send its key and secret in the query, which the log does not repeat", async () => {
    await using paged = await startSandbox({ pageSize: 4, allowances: { app: 3 } });
    const { key, secret } = paged.app;
    const query = `app_key=${key}&app_secret=${encodeURIComponent(secret)}`;
    const brands = await getEnvelope(`${paged.url}brands/?${query}`);
    expect(brands.self).toBe(`${paged.url}brands/`);
    const second = await send(`${paged.url}brands/?page=2&${query}`);
    expect(second.headers["x-ratelimit-limit"]).toBe("3");
    expect(JSON.parse(second.bytes.toString())).toMatchObject({ meta: { current: brands.meta.next } });
    expect(paged.log()).toMatchObject([
      { credential: `app:${key}`, url: `${paged.url}brands/` },
      { credential: `app:${key}`, url: brands.meta.next },
    ]);
    expect(JSON.stringify([paged.log(), brands])).not.toContain(secret);
  });

  it.each(["app_key=x&app_secret=y", "app_key=sandbox-app", "app_secret="])(
    "wrong credentials in the query count as none: %s",
    async (query) => {
      sandbox.clearLog();
      await getEnvelope(`${sandbox.url}brands/?${query}`);
      expect(sandbox.log()).toMatchObject([{ credential: "none", url: `${sandbox.url}brands/` }]);
    },
  );

  it("a header has precedence over the query", async () => {
    const url = `${sandbox.url}me/?app_key=${sandbox.app.key}&app_secret=${sandbox.app.secret}`;
    expect((await getEnvelope(url, bearer(tokenOf(0)))).body).toMatchObject({ username: "anna" });
  });
});

it.each(["plain", "opaque"] as const)(
  "an unknown address below that of the user is for those with a token only, in the %s layout",
  async (layout) => {
    await using strict = await startSandbox({ layout });
    const me = linkOf(await getEnvelope(strict.url), "me");
    for (const path of ["nothing/", "bras/x/", "bras/?page=x", "bras/7/8/9"]) {
      const { status, bytes } = await send(`${me}${path}`);
      expect({ status, ...JSON.parse(bytes.toString()) }).toMatchObject({
        status: 401,
        message: "Not authenticated",
      });
      expect((await send(`${me}${path}`, { headers: bearer(strict.users[0]?.token) })).status).toBe(404);
    }
    expect((await send(`${strict.url}nothing/`)).status).toBe(404);
  },
);

it("every 401 names the scheme of the credential", async () => {
  await using strict = await startSandbox({ users: 3, missingScope: "401" });
  const refused = [
    await send(`${strict.url}me/`),
    await send(`${strict.url}me/measurements/`, { headers: bearer(strict.users[2]?.token) }),
  ];
  for (const { status, headers } of refused)
    expect({ status, challenge: headers["www-authenticate"] }).toEqual({
      status: 401,
      challenge: 'Bearer realm="sandbox"',
    });
});
