/** Compression of stored bodies: smaller, and read back byte for byte. */

import Database from "better-sqlite3";
import fc from "fast-check";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { decodeBody, deflateBody } from "../../../src/mirror/bodies/compression.ts";
import { DamagedBodyError } from "../../../src/mirror/file/errors.ts";
import type { DueResource } from "../../../src/mirror/scope.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { currentBodies } from "../../support/current-bodies.ts";
import { crawl, type MirrorRig, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, sha256Of, urlOf, worldOf } from "../support/world.ts";

let rig: MirrorRig;
let mirror: MirrorWriter;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
});

/** @returns the number of bodies examined */
function compressAll(writer: MirrorWriter): number {
  let bodies = 0;
  for (let examined = writer.compressBatch(); examined > 0; examined = writer.compressBatch())
    bodies += examined;
  return bodies;
}

const brands = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `brand/${from + n}/`);
const brandOf = (path: string, note = "a note that all brands have") =>
  entity({ name: path, note }, { models: null });
const worldOfBrands = (paths: readonly string[], note?: string) =>
  worldOf({
    "/": root(),
    "brands/": page(paths),
    ...Object.fromEntries(paths.map((path) => [path, brandOf(path, note)])),
  });

const codecs = () =>
  mirror.db
    .prepare("select codec, dictionary_id, count(*) from _content group by 1, 2 order by 1, 2")
    .raw()
    .all();
const dictionaries = () => mirror.db.prepare("select id, kind from _dictionary order by id").raw().all();
const storedBytes = () =>
  mirror.db.prepare<[], number>("select sum(length(body)) from _content").pluck().get() ?? 0;

describe("the codec", () => {
  it("any bytes are read back unchanged, with and without a dictionary", () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 3000 });
    fc.assert(
      fc.property(bytes, fc.option(bytes), (body, dictionary) => {
        const stored = {
          codec: "deflate",
          size: body.byteLength,
          body: deflateBody(body, dictionary),
          dictionaryId: null,
        };
        expect(decodeBody(stored, dictionary).equals(body)).toBe(true);
      }),
    );
  });

  it("damaged bytes throw DamagedBodyError, or give at most the declared size", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.integer({ min: -1, max: 500 }),
        fc.constantFrom("deflate", "zstd", ""),
        (noise, size, codec) => {
          try {
            const body = decodeBody({ codec, size, body: Buffer.from(noise) }, null);
            expect(body.byteLength).toBeLessThanOrEqual(size);
          } catch (error) {
            expect(error).toBeInstanceOf(DamagedBodyError);
          }
        },
      ),
    );
    const stored = {
      codec: "deflate",
      size: 100,
      body: deflateBody(Buffer.alloc(100_000), null),
      dictionaryId: null,
    };
    expect(() => decodeBody(stored, null)).toThrow(DamagedBodyError);
  });
});

describe("compressing", () => {
  it("compression shrinks a mirror without changing its content", () => {
    crawl(mirror, worldOfBrands(brands(1200)));
    const [before, bodies, bytes] = [canonicalDump(mirror), currentBodies(mirror), storedBytes()];
    expect(compressAll(mirror)).toBe(1202);
    expect(canonicalDump(mirror)).toEqual(before);
    expect(currentBodies(mirror)).toEqual(bodies);
    expect(storedBytes()).toBeLessThan(bytes / 2);
    expect(mirror.db.pragma("foreign_keys", { simple: true })).toBe(1);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("bodies with any text are read back unchanged after compression", async () => {
    const note = fc.string({ unit: "binary", maxLength: 5000 });
    await fc.assert(
      fc.asyncProperty(fc.array(note, { minLength: 30, maxLength: 40 }), async (notes) => {
        await using otherRig = await startMirrorRig();
        const writer = await otherRig.write();
        const paths = brands(notes.length);
        const bodies = Object.fromEntries(paths.map((path, n) => [path, brandOf(path, notes[n])]));
        crawl(writer, worldOf({ "/": root(), "brands/": page(paths), ...bodies }));
        const before = currentBodies(writer);
        compressAll(writer);
        expect(currentBodies(writer)).toEqual(before);
      }),
      { numRuns: 20 },
    );
  });

  it("only a kind with many bodies gets a dictionary", () => {
    crawl(mirror, worldOfBrands(brands(40)));
    compressAll(mirror);
    expect(dictionaries()).toEqual([[1, "brand"]]);
    expect(codecs()).toContainEqual(["deflate", 1, 40]);
    expect(codecs()).not.toContainEqual(["identity", null, 42]);
  });

  it("only new bodies without a dictionary are examined", () => {
    crawl(mirror, worldOfBrands(brands(40)));
    expect(compressAll(mirror)).toBe(42);
    expect(compressAll(mirror)).toBe(0);
    crawl(mirror, worldOfBrands(brands(43)));
    // Only the list: the three new brands were compressed when they arrived.
    expect(codecs()).toContainEqual(["deflate", 1, 43]);
    expect(compressAll(mirror)).toBe(1);
    expect(compressAll(mirror)).toBe(0);
    expect(codecs()).toContainEqual(["deflate", 1, 43]);
    expect(dictionaries()).toHaveLength(1);
  });

  it("all revisions are read once for any number of batches, and once more to see that none is left", () => {
    crawl(mirror, worldOfBrands([]));
    const body = Buffer.from("a body");
    mirror.db.exec(`
      create temp table numbers as with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
        select 1000 + n as n from numbers;
      insert into _resource (id, url, kind, state, first_run) select n, '${urlOf("odd/")}' || n, 'odd', 'held', 1 from numbers;
      insert into _content (id, sha256, codec, size, body)
        select n, x'${sha256Of(body)}', 'identity', ${body.length}, x'${body.toString("hex")}' from numbers;
      insert into _revision (resource_id, seq, content_id, from_run, status, fetched_at) select n, 1, n, 1, 200, 0 from numbers`);
    let readings = 0;
    const { prepare } = Database.prototype;
    using _ = vi.spyOn(Database.prototype, "prepare").mockImplementation(function (
      this: Database.Database,
      sql,
    ) {
      const statement = prepare.call(this, sql);
      for (const method of /_revision\W.*_content\W/s.test(sql) ? (["all", "run"] as const) : []) {
        const execute = statement[method] as (...values: unknown[]) => never;
        statement[method] = (...values: unknown[]) => {
          readings++;
          return execute.apply(statement, values);
        };
      }
      return statement;
    });
    expect(compressAll(mirror)).toBe(20_002);
    expect(readings).toBe(2);
  });

  it("bodies are compressed on arrival once their kind has enough bodies for a dictionary", () => {
    const firstOnly = (due: readonly DueResource[]) => due.slice(0, 1);
    crawl(mirror, worldOfBrands(brands(40)), { choose: firstOnly });
    // The root, the list, and the first 32 brands.
    expect(codecs()).toEqual([
      ["deflate", 1, 8],
      ["identity", null, 34],
    ]);
    expect(problemsOf(mirror)).toEqual([]);
    expect(compressAll(mirror)).toBe(34);
    expect(codecs()).toContainEqual(["deflate", 1, 40]);
  });

  it("a rolled back batch leaves no dictionary in the cache", () => {
    crawl(mirror, worldOfBrands(brands(31)));
    const paths = brands(80);
    mirror.db.exec(
      `create temp trigger full after insert on main._revision when new.resource_id in (select id from _resource where url = '${urlOf("brand/60/")}')
       begin select raise(abort, 'full'); end`,
    );
    expect(() => crawl(mirror, worldOfBrands(paths))).toThrow("full");
    expect(dictionaries()).toEqual([]);
    mirror.db.exec("drop trigger temp.full");
    crawl(mirror, worldOfBrands(paths));
    compressAll(mirror);
    expect(codecs()).toContainEqual(["deflate", 1, 80]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a dictionary that cannot be stored is not cached, and earlier batches stay", () => {
    const firstOnly = (due: readonly DueResource[]) => due.slice(0, 1);
    mirror.db.exec(
      "create temp trigger full before insert on main._dictionary begin select raise(abort, 'full'); end",
    );
    expect(() => crawl(mirror, worldOfBrands(brands(40)), { choose: firstOnly })).toThrow("full");
    expect(codecs()).toEqual([["identity", null, 34]]);
    mirror.db.exec("drop trigger temp.full");
    crawl(mirror, worldOfBrands(brands(40)), { choose: firstOnly });
    expect(codecs()).toContainEqual(["deflate", 1, 8]);
    expect(problemsOf(mirror)).toEqual([]);
  });

  it("a body that would not become smaller stays uncompressed", () => {
    crawl(mirror, worldOfBrands(brands(3)));
    const noise = Buffer.from(
      Array.from({ length: 300 }, (_, n) => (n * n * 7919) & 0xff).map((byte, n) => byte ^ n),
    );
    const dense = deflateBody(Buffer.concat([noise, Buffer.from(sha256Of("noise"))]), null);
    mirror.db
      .prepare("update _content set body = ?, size = ?, sha256 = ? where id = 1")
      .run(dense, dense.byteLength, Buffer.from(sha256Of(dense), "hex"));
    compressAll(mirror);
    expect(mirror.db.prepare("select codec, body from _content where id = 1").get()).toEqual({
      codec: "identity",
      body: dense,
    });
  });

  it("a damaged body is not rewritten, so that it can still be repaired", () => {
    crawl(mirror, worldOfBrands(brands(3)));
    mirror.db.exec("update _content set body = substr(body, 2) where id = 2");
    compressAll(mirror);
    expect(mirror.db.prepare("select codec from _content where id = 2").pluck().get()).toBe("identity");
    expect(problemsOf(mirror)).toContainEqual(expect.objectContaining({ code: "body", where: "_content 2" }));
  });

  it("the next run reuses the space that compression frees", () => {
    crawl(mirror, worldOfBrands(brands(1500), "x".repeat(100)));
    const pagesOf = () => mirror.db.pragma("page_count", { simple: true }) as number;
    const before = pagesOf();
    compressAll(mirror);
    crawl(mirror, worldOfBrands(brands(1500), "y".repeat(100)));
    expect(pagesOf()).toBeLessThan(before * 1.2);
  });

  it("a resource that returns to an earlier body shares the stored one, compressed or not", () => {
    for (const note of ["one", "two", "one"]) {
      crawl(mirror, worldOf({ "/": root(), "brands/": page(["a/"]), "a/": brandOf("a/", note) }));
      compressAll(mirror);
    }
    expect(mirror.db.prepare("select count(*) from _content").pluck().get()).toBe(4);
    expect(currentBodies(mirror).get(urlOf("a/"))).toContain('"one"');
  });
});
