/** A batch of results is one transaction: revisions, states, rows and links. */

import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { isoTimeOf } from "../../../schema/tables.ts";
import { emptySummary, type ResourceResult } from "../../../src/mirror/ingest.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { noHeaders } from "../../support/no-headers.ts";
import { beginRun, closeRun, crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import {
  baseUrl,
  entity,
  etagOf,
  page,
  resultFrom,
  root,
  sha256Of,
  urlOf,
  worldOf,
} from "../support/world.ts";

const brandUrl = urlOf("brands/a/");
const brandOf = (name: string, more: object = {}) => entity({ name, slug: "a", ...more });
const bodies = () => ({
  "/": root(),
  "brands/": page(["brands/a/", "brands/b/"]),
  "brands/a/": brandOf("A"),
  "brands/b/": entity({ name: "B" }),
});

let mirror: MirrorWriter;
beforeEach(async () => {
  const rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
});

interface Revision {
  readonly seq: number;
  readonly fromRun: number;
  readonly toRun: number | null;
  readonly status: number;
  readonly fetchedAt: string;
  readonly text: string;
}

function revisionsOf(url: string): Revision[] {
  return mirror.db
    .prepare<[string], Revision & { body: Buffer }>(
      `select v.seq, v.from_run as fromRun, v.to_run as toRun, v.status, ${isoTimeOf("v.fetched_at")} as fetchedAt, c.body
       from _revision v join _content c on c.id = v.content_id join _resource r on r.id = v.resource_id
       where r.url = ? order by v.seq`,
    )
    .all(url)
    .map(({ body, ...revision }) => ({ ...revision, text: body.toString() }));
}

function resourceAt(url: string): Record<string, unknown> & { id: number } {
  return mirror.db.prepare("select * from _resource where url = ?").get(url) as Record<string, unknown> & {
    id: number;
  };
}

/** Ingests one result in a run of its own. */
function ingestOne(url: string, outcome: object | "not-modified" | "gone" | "failed" | Buffer, etag = '"x"') {
  const runId = beginRun(mirror);
  const common = { resourceId: resourceAt(url).id, fetchedAt: "2026-02-02T02:02:02.000Z" };
  const result: ResourceResult =
    outcome === "failed"
      ? { ...common, outcome, code: "timeout", message: "no response" }
      : typeof outcome === "string"
        ? { ...common, outcome }
        : {
            ...common,
            outcome: "body",
            status: 203,
            etag,
            headers: noHeaders,
            body: Buffer.isBuffer(outcome) ? outcome : Buffer.from(JSON.stringify(outcome)),
          };
  const summary = mirror.ingest([result], runId);
  return { runId, summary, closing: closeRun(mirror, runId) };
}

describe("bodies", () => {
  it("a body is stored byte for byte, with its SHA-256, status and time", () => {
    crawl(mirror, worldOf(bodies()));
    const odd = Buffer.from(
      `\ufeff{ "rel":"entity",\r\n\t"body" : {"name": "\\ud800 \\u0000 é😀\u202e", "bra_count": 90071992547409931, "name":"twice"}, "x": -0 }\n`,
    );
    ingestOne(brandUrl, odd);
    const stored = mirror.db
      .prepare<[], { sha256: Buffer; size: number; body: Buffer }>("select * from _content order by id desc")
      .get();
    expect(stored?.body.equals(odd)).toBe(true);
    expect(stored?.size).toBe(odd.byteLength);
    expect(stored?.sha256.toString("hex")).toBe(sha256Of(odd));
    expect(revisionsOf(brandUrl).at(-1)).toMatchObject({
      status: 203,
      fetchedAt: "2026-02-02T02:02:02.000Z",
    });
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a new body creates a revision and due resources for its links", () => {
    const summary = crawl(mirror, worldOf(bodies()), { maxBatches: 1 });
    expect(summary).toMatchObject({ new: 1, discovered: 1, changed: 0, unchanged: 0, gone: 0, failed: 0 });
    expect(resourceAt(baseUrl)).toMatchObject({ kind: "root", state: "held", first_run: summary.runId });
    expect(resourceAt(urlOf("brands/"))).toMatchObject({ kind: "brands", state: "due", checked_run: 0 });
  });

  it("an unchanged body adds no revision and counts as a check", () => {
    crawl(mirror, worldOf(bodies()));
    const before = revisionsOf(brandUrl);
    const { runId, summary } = ingestOne(brandUrl, brandOf("A"), '"new tag"');
    expect(summary).toMatchObject({ unchanged: 1, new: 0, changed: 0 });
    expect(revisionsOf(brandUrl)).toEqual(before);
    expect(resourceAt(brandUrl)).toMatchObject({ checked_run: runId, etag: '"new tag"' });
  });

  it("a changed body closes the former revision", () => {
    const { runId: first } = crawl(mirror, worldOf(bodies()));
    const { runId: second, summary } = ingestOne(brandUrl, brandOf("A2"));
    expect(summary).toMatchObject({ changed: 1, new: 0 });
    expect(revisionsOf(brandUrl)).toMatchObject([
      { seq: 1, fromRun: first, toRun: second, text: JSON.stringify(brandOf("A")) },
      { seq: 2, fromRun: second, toRun: null, text: JSON.stringify(brandOf("A2")) },
    ]);
    expect(mirror.db.prepare("select name from brand where href = ?").pluck().get(brandUrl)).toBe("A2");
  });

  it("a body that changes back is stored once, for two of three revisions", () => {
    crawl(mirror, worldOf(bodies()));
    ingestOne(brandUrl, brandOf("A2"));
    ingestOne(brandUrl, brandOf("A"));
    expect(revisionsOf(brandUrl).map(({ text }) => JSON.parse(text).body.name)).toEqual(["A", "A2", "A"]);
    const contents = mirror.db.prepare("select count(*) from _content where sha256 = ?").pluck();
    expect(contents.get(Buffer.from(sha256Of(JSON.stringify(brandOf("A"))), "hex"))).toBe(1);
  });

  it("two resources with the same body both have rows", () => {
    crawl(mirror, worldOf({ ...bodies(), "brands/b/": brandOf("A") }));
    expect(mirror.db.prepare("select href from brand where name = 'A' order by href").pluck().all()).toEqual([
      brandUrl,
      urlOf("brands/b/"),
    ]);
  });

  it("a changed body replaces all links, items and list rows", () => {
    const world = worldOf({
      ...bodies(),
      "brands/a/": entity({ name: "A" }, { models: urlOf("brands/a/models/"), old: urlOf("old/") }),
      "brands/a/models/": page(["m/1/", "m/2/", "m/3/"]),
      "m/1/": entity({ manufacturer_stock_pictures: [{ url: "u1", text: "t1" }, { url: "u2" }] }),
    });
    crawl(mirror, world);
    ingestOne(brandUrl, entity({ name: "A" }, { models: urlOf("brands/a/models/") }));
    ingestOne(urlOf("brands/a/models/"), page(["m/3/"]));
    ingestOne(urlOf("m/1/"), entity({ manufacturer_stock_pictures: [{ url: "u3", text: null }] }));
    const dump = canonicalDump(mirror);
    expect(Object.keys(dump[brandUrl]?.links ?? {})).toEqual(["models"]);
    expect(dump[urlOf("brands/a/models/")]?.members).toEqual([[urlOf("m/3/"), "The m/3/"]]);
    expect(dump[urlOf("m/1/")]?.rows.model_picture).toEqual([["0n", "u3", null]]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it.each([
    ["that is no JSON", Buffer.from("<html>")],
    [
      "that is not UTF-8",
      Buffer.from([...Buffer.from('{"rel":"entity","body":{"name":"'), 0xff, 0x22, 0x7d, 0x7d]),
    ],
    ["with two byte order marks", Buffer.from(`\ufeff\ufeff${JSON.stringify(brandOf("A2"))}`)],
    ["that is no envelope", { message: "hello" }],
    ["of another rel", page([])],
    ["that is an entity without a body", { rel: "entity", links: {}, meta: {} }],
    [
      "of too deep JSON",
      Buffer.from(`{"rel":"entity","body":{"name":${"[".repeat(9000)}${"]".repeat(9000)}}}`),
    ],
  ])("a body %s fails: the held one stays, and the rest of the batch is stored", (_defect, invalid) => {
    crawl(mirror, worldOf(bodies()));
    const before = canonicalDump(mirror);
    const etag = resourceAt(brandUrl).etag;
    const runId = beginRun(mirror);
    const common = {
      fetchedAt: "2026-02-02T02:02:02.000Z",
      outcome: "body",
      status: 200,
      etag: '"x"',
      headers: noHeaders,
    } as const;
    const body = Buffer.isBuffer(invalid) ? invalid : Buffer.from(JSON.stringify(invalid));
    const otherBody = Buffer.from(JSON.stringify(entity({ name: "B2" })));
    const summary = mirror.ingest(
      [
        { ...common, resourceId: resourceAt(brandUrl).id, body },
        { ...common, resourceId: resourceAt(urlOf("brands/b/")).id, body: otherBody },
      ],
      runId,
    );
    expect(summary).toMatchObject({ failed: 1, changed: 1 });
    const after = canonicalDump(mirror);
    expect(after[brandUrl]).toEqual(before[brandUrl]);
    expect(after[urlOf("brands/b/")]?.sha256).toBe(sha256Of(otherBody));
    expect(resourceAt(brandUrl)).toMatchObject({ etag, attempts: 1 });
    expect(resourceAt(brandUrl).error).toMatch(/^contract: /);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a body of an unknown kind is stored", () => {
    const world = worldOf({
      ...bodies(),
      "/": root({ brands: urlOf("brands/"), news: urlOf("news/") }),
      "news/": {
        rel: "collection",
        collection: [{ href: urlOf("news/1/"), title: "…" }, { title: "no href" }],
      },
    });
    crawl(mirror, world, { follow: ["news"] });
    expect(revisionsOf(urlOf("news/"))).toHaveLength(1);
    expect(resourceAt(urlOf("news/"))).toMatchObject({ kind: "?news", state: "held" });
    expect(resourceAt(urlOf("news/1/"))).toMatchObject({ kind: "?news.item", state: "due" });
    expect(problemsOf(mirror)).toEqual([]);
  });

  it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
    "a link and a field called %s are stored",
    (name) => {
      const odd = `{"rel":"entity","links":{"${name}":"${urlOf("odd/")}"},"meta":{"${name}":1},"body":{"name":"A","${name}":{"${name}":2}}}`;
      crawl(mirror, worldOf({ ...bodies(), "brands/a/": odd }));
      expect(mirror.db.prepare("select name from brand where href = ?").pluck().get(brandUrl)).toBe("A");
      expect(mirror.db.prepare("select name, kind, unfollowed_url as url from _link").all()).toContainEqual({
        name,
        kind: `?${name}`,
        url: urlOf("odd/"),
      });
      expect(problemsOf(mirror)).toEqual([]);
    },
  );

  it("names of links, fields and items may be any text and are stored exactly", () => {
    const text = 'quote " slash / tilde ~ NUL \0 lone \ud800 emoji 😀 right to left \u202e';
    const world = worldOf({
      ...bodies(),
      "brands/": { rel: "collection", collection: [{ href: brandUrl, name: text }] },
      "brands/a/": entity({ name: text, [text]: 1 }, { [text]: urlOf("odd/") }),
    });
    crawl(mirror, world);
    const dump = canonicalDump(mirror);
    expect(dump[brandUrl]?.rows.brand?.[0]).toContain(text);
    expect(dump[urlOf("brands/")]?.members).toEqual([[brandUrl, text]]);
    expect(problemsOf(mirror)).toEqual([]);
  });
});

describe("ETags", () => {
  it("an ETag is stored with its body", () => {
    crawl(mirror, worldOf(bodies()));
    expect(resourceAt(brandUrl).etag).toBe(etagOf(Buffer.from(JSON.stringify(brandOf("A")))));
    ingestOne(brandUrl, brandOf("A2"), 'W/"weak"');
    expect(resourceAt(brandUrl).etag).toBe('W/"weak"');
  });

  it("a body without an ETag removes the former ETag", () => {
    crawl(mirror, worldOf(bodies()));
    const runId = beginRun(mirror);
    const body = Buffer.from(JSON.stringify(brandOf("A2")));
    const common = { resourceId: resourceAt(brandUrl).id, fetchedAt: "2026-02-02T02:02:02.000Z" };
    mirror.ingest([{ ...common, outcome: "body", status: 200, etag: null, headers: noHeaders, body }], runId);
    expect(resourceAt(brandUrl).etag).toBeNull();
  });

  it("a gone resource loses its ETag, so that it is fetched in full if it returns", () => {
    crawl(mirror, worldOf(bodies()));
    ingestOne(brandUrl, "gone");
    expect(resourceAt(brandUrl).etag).toBeNull();
  });
});

it("a 304 changes only the time and run of the check", () => {
  crawl(mirror, worldOf(bodies()));
  const { checked_run: _run, last_checked_run: _last, checked_at: _at, ...before } = resourceAt(brandUrl);
  const dump = canonicalDump(mirror);
  const revisions = revisionsOf(brandUrl);
  const { runId, summary } = ingestOne(brandUrl, "not-modified");
  expect(summary).toMatchObject({ unchanged: 1 });
  const { checked_run, last_checked_run, checked_at, ...after } = resourceAt(brandUrl);
  expect({ checked_run, last_checked_run, checked_at }).toEqual({
    checked_run: runId,
    last_checked_run: runId,
    checked_at: Date.parse("2026-02-02T02:02:02.000Z"),
  });
  expect(after).toEqual(before);
  expect(canonicalDump(mirror)).toEqual(dump);
  expect(revisionsOf(brandUrl)).toEqual(revisions);
});

describe("gone resources", () => {
  it("a gone resource becomes a tombstone that keeps its last values", () => {
    crawl(mirror, worldOf(bodies()));
    const { runId, closing } = ingestOne(brandUrl, "gone");
    expect(closing).toMatchObject({ gone: 1, awaitingApproval: 0 });
    expect(resourceAt(brandUrl)).toMatchObject({ state: "gone", gone_run: runId });
    expect(revisionsOf(brandUrl)).toMatchObject([{ seq: 1, toRun: runId }]);
    expect(mirror.db.prepare("select name, gone_at is null as here from brand").all()).toEqual([
      { name: "A", here: 0 },
      { name: "B", here: 1 },
    ]);
    expect(mirror.db.prepare("select name from brand_current").pluck().all()).toEqual(["B"]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a tombstone is requested again only when it is listed again, and then continues its history", () => {
    const world = worldOf(bodies());
    crawl(mirror, world);
    world.delete(brandUrl);
    world.set(urlOf("brands/"), JSON.stringify(page(["brands/b/"])));
    const { runId: goneRun } = crawl(mirror, world);
    expect(crawl(mirror, world).requested).not.toContain(brandUrl);

    const returned = worldOf({ ...bodies(), "brands/a/": brandOf("A2") });
    const { runId, requested } = crawl(mirror, returned);
    expect(requested).toContain(brandUrl);
    expect(resourceAt(brandUrl)).toMatchObject({ state: "held", gone_run: null });
    expect(revisionsOf(brandUrl)).toMatchObject([
      { seq: 1, toRun: goneRun },
      { seq: 2, fromRun: runId, toRun: null },
    ]);
    expect(mirror.db.prepare("select name, gone_at from brand_current where slug = 'a'").all()).toEqual([
      { name: "A2", gone_at: null },
    ]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a tombstone that returns with the same content gets a new revision", () => {
    const world = worldOf(bodies());
    crawl(mirror, world);
    ingestOne(brandUrl, "gone");
    world.set(urlOf("brands/"), JSON.stringify(page(["brands/b/", "brands/a/"])));
    crawl(mirror, world);
    expect(revisionsOf(brandUrl)).toMatchObject([{ seq: 1 }, { seq: 2, toRun: null }]);
    expect(resourceAt(brandUrl).state).toBe("held");
  });

  it("a tombstone that is still listed is requested once per run and keeps its first run", () => {
    const world = worldOf(bodies());
    crawl(mirror, world);
    world.delete(brandUrl);
    const { runId, gone } = crawl(mirror, world);
    expect(gone).toBe(1);
    expect(resourceAt(brandUrl)).toMatchObject({ state: "gone", gone_run: runId });
    const second = crawl(mirror, world);
    expect(second.requested.filter((url) => url === brandUrl)).toHaveLength(1);
    expect(resourceAt(brandUrl)).toMatchObject({ state: "gone", gone_run: runId });
    expect(second.gone).toBe(0);
  });

  it("a resource that was gone temporarily returns although its listing never changed", () => {
    const world = worldOf(bodies());
    crawl(mirror, world);
    world.delete(brandUrl);
    crawl(mirror, world);
    world.set(brandUrl, JSON.stringify(brandOf("A")));
    crawl(mirror, world);
    expect(resourceAt(brandUrl)).toMatchObject({ state: "held", gone_run: null });
    expect(revisionsOf(brandUrl)).toHaveLength(2);
  });

  it("a resource that is gone together with its listing is not requested again", () => {
    const world = worldOf({
      ...bodies(),
      "brands/a/": entity({ name: "A" }, { models: urlOf("models/") }),
      "models/": page(["m/"]),
      "m/": entity({ name: "M" }),
    });
    crawl(mirror, world);
    for (const path of ["brands/a/", "models/", "m/"]) world.delete(urlOf(path));
    world.set(urlOf("brands/"), JSON.stringify(page(["brands/b/"])));
    crawl(mirror, world);
    expect(crawl(mirror, world).requested).toEqual([baseUrl, urlOf("brands/"), urlOf("brands/b/")]);
  });
});

describe("failures", () => {
  it("a failure leaves the held body unchanged and counts the attempts", () => {
    crawl(mirror, worldOf(bodies()));
    const dump = canonicalDump(mirror);
    expect(ingestOne(brandUrl, "failed").summary).toMatchObject({ failed: 1 });
    ingestOne(brandUrl, "failed");
    expect(canonicalDump(mirror)).toEqual(dump);
    expect(resourceAt(brandUrl)).toMatchObject({ attempts: 2, error: "timeout: no response" });
    ingestOne(brandUrl, "not-modified");
    expect(resourceAt(brandUrl)).toMatchObject({ attempts: 0, error: null });
  });

  it("a failed resource that was never held is requested by the next run", () => {
    const world = worldOf(bodies());
    crawl(mirror, world, { maxBatches: 2 });
    ingestOne(brandUrl, "failed");
    expect(resourceAt(brandUrl)).toMatchObject({ state: "failed" });
    crawl(mirror, world);
    expect(resourceAt(brandUrl)).toMatchObject({ state: "held", attempts: 0, error: null });
  });
});

describe("batches", () => {
  it("a batch with a result for an unknown resource changes nothing", () => {
    const world = worldOf(bodies());
    crawl(mirror, world, { maxBatches: 2 });
    const before = canonicalDump(mirror);
    const counts = mirror.db
      .prepare("select (select count(*) from _content), (select count(*) from _issue)")
      .raw();
    const countsBefore = counts.get();
    const runId = beginRun(mirror);
    const [a, b] = ["brands/a/", "brands/b/"].map((path) => {
      const { id } = resourceAt(urlOf(path));
      return resultFrom(worldOf({ [path]: entity({ unknown: 1 }, { unknown: urlOf("x/") }) }), {
        id,
        url: urlOf(path),
        etag: null,
      });
    }) as [ResourceResult, ResourceResult];
    expect(() => mirror.ingest([a, { ...a, resourceId: 12_345 }, b], runId)).toThrow(/12345/);
    expect(canonicalDump(mirror)).toEqual(before);
    expect(counts.get()).toEqual(countsBefore);
  });

  it("ingesting a batch twice changes nothing the second time", () => {
    const world = worldOf(bodies());
    crawl(mirror, world, { maxBatches: 2 });
    const runId = beginRun(mirror);
    const results = ["brands/a/", "brands/b/"].map((path) =>
      resultFrom(world, { id: resourceAt(urlOf(path)).id, url: urlOf(path), etag: null }),
    );
    mirror.ingest(results, runId);
    const dump = canonicalDump(mirror);
    const tables = ["_content", "_revision", "_resource", "_link", "_member", "_issue"];
    const rows = () => tables.map((table) => mirror.db.prepare(`select * from ${table}`).all());
    const before = rows();
    expect(mirror.ingest([...results, ...results], runId)).toMatchObject({
      unchanged: 4,
      new: 0,
      changed: 0,
    });
    expect(canonicalDump(mirror)).toEqual(dump);
    expect(rows()).toEqual(before);
  });

  it("an empty batch changes nothing", () => {
    crawl(mirror, worldOf(bodies()));
    const dump = canonicalDump(mirror);
    const runId = beginRun(mirror);
    expect(mirror.ingest([], runId)).toEqual(emptySummary());
    expect(canonicalDump(mirror)).toEqual(dump);
  });
});
