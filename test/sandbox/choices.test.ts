/** Options for what the specification leaves open: lists that lose their items, null measurements, clients in browsers. */
import { describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { bearer, getEnvelope, hrefsOf, linkOf, type ReceivedEnvelope, send } from "./support/client.ts";

describe("emptied lists", () => {
  const empty = { collection: [], meta: { collection_total: 0, next: null } };

  it("a list is full until all its pages were read, and empty afterwards", async () => {
    await using sandbox = await startSandbox({ emptiedLists: true, pageSize: 5 });
    const first = await getEnvelope(`${sandbox.url}brands/`);
    expect(hrefsOf(await getEnvelope(first.self))).toHaveLength(5);
    const second = await getEnvelope(String(first.meta.next));
    expect(hrefsOf(await getEnvelope(String(second.meta.next)))).toHaveLength(2);
    expect(await getEnvelope(first.self)).toMatchObject({ ...empty, links: first.links });
    expect((await send(second.self)).status).toBe(404);
    expect([...sandbox.truth()].filter(({ kind }) => kind === "brand")).toHaveLength(12);
    await getEnvelope(hrefsOf(first)[0] ?? "");
  });

  it("a list is emptied for those who have read it, and other lists stay full", async () => {
    await using sandbox = await startSandbox({ emptiedLists: true, users: 2 });
    const [anna, other] = sandbox.users.map(({ token }) => bearer(token));
    const url = `${sandbox.url}me/bras/`;
    expect(hrefsOf(await getEnvelope(url, anna))).toHaveLength(30);
    expect(await getEnvelope(url, anna)).toMatchObject(empty);
    expect(hrefsOf(await getEnvelope(url, other))).not.toEqual([]);
    expect(hrefsOf(await getEnvelope(`${sandbox.url}me/measurements/`, anna))).not.toEqual([]);
  });
});

describe("measurements of bras", () => {
  async function bodiesIn(sandbox: Sandbox): Promise<NonNullable<ReceivedEnvelope["body"]>[]> {
    const headers = bearer(sandbox.users[0]?.token);
    const me = await getEnvelope(linkOf(await getEnvelope(sandbox.url), "me"), headers);
    const bodies = [];
    for (const href of hrefsOf(await getEnvelope(linkOf(me, "bras"), headers)))
      bodies.push((await getEnvelope(href, headers)).body ?? {});
    return bodies;
  }

  it("no measurement is null unless the option says so, and the others are the same", async () => {
    await using complete = await startSandbox();
    await using sparse = await startSandbox({ nullMeasurements: true });
    const [full, partial] = [await bodiesIn(complete), await bodiesIn(sparse)];
    expect(full.flatMap((body) => Object.values(body)).includes(null)).toBe(false);
    expect(partial.flatMap((body) => Object.values(body)).filter((value) => value === null)).not.toEqual([]);
    const origin = (text: string): string => text.replaceAll(/127\.0\.0\.1:\d+/g, "");
    const known = full.map((body, n) =>
      Object.fromEntries(Object.entries(body).filter(([name]) => partial[n]?.[name] !== null)),
    );
    const sent = partial.map((body) =>
      Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
    );
    expect(origin(JSON.stringify(sent))).toBe(origin(JSON.stringify(known)));
  });
});

describe("browsers", () => {
  it("with the option, pages of any origin may read every response and its headers", async () => {
    await using sandbox = await startSandbox({ cors: true, allowances: { none: 1 } });
    const addresses = ["", "me/", "brands/", "nothing/"].map((path) => sandbox.url + path);
    const statuses: number[] = [];
    for (const url of addresses) {
      const { status, headers } = await send(url, { headers: { Origin: "https://page.example" } });
      statuses.push(status);
      expect(headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "*",
      });
    }
    expect(statuses).toEqual([200, 401, 403, 403]);
  });

  it("with the option, browsers may ask before a request with a token, free of charge", async () => {
    await using sandbox = await startSandbox({ cors: true, allowances: { none: 0 } });
    const { status, headers, bytes } = await send(`${sandbox.url}me/`, {
      method: "OPTIONS",
      headers: { Origin: "https://page.example", "Access-Control-Request-Headers": "authorization" },
    });
    expect(status).toBe(204);
    expect(headers["access-control-allow-headers"]).toContain("Authorization");
    expect(bytes).toHaveLength(0);
    expect(sandbox.log()).toMatchObject([{ method: "OPTIONS", counted: false }]);
  });

  it("without the option, no origin is allowed", async () => {
    await using sandbox = await startSandbox();
    const { headers } = await send(sandbox.url, { headers: { Origin: "https://page.example" } });
    expect(headers).not.toHaveProperty("access-control-allow-origin");
    expect((await send(sandbox.url, { method: "OPTIONS" })).status).toBe(405);
  });

  it("the administration allows no origin", async () => {
    await using sandbox = await startSandbox({ cors: true });
    const { headers } = await send(`${sandbox.url}__sandbox/log`);
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });
});
