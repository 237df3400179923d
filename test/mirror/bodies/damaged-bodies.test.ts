/** Damage to compressed bodies and dictionaries: `mirror check` finds it, and nothing crashes. */
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import Database from "better-sqlite3";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { type CheckProblem, checkMirror } from "../../../src/mirror/check/check.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { rebuildMirror } from "../../../src/mirror/writer.ts";
import { expectUnreadable } from "../../support/canary.ts";
import { tries } from "../../support/thorough.ts";
import { crawl, type MirrorRig, someTime, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../support/world.ts";

let rig: MirrorRig;
let sound: Buffer;
let copies = 0;

beforeAll(async () => {
  rig = await startMirrorRig();
  const mirror = await rig.write();
  const paths = Array.from({ length: 40 }, (_, n) => `brand/${n}/`);
  const brands = paths.map((path) => [path, entity({ name: path, note: "the same in each" })]);
  crawl(mirror, worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(brands) }));
  while (mirror.compressBatch() > 0);
  mirror.close();
  sound = readFileSync(rig.file);
});
afterAll(() => rig[Symbol.asyncDispose]());

/** A copy of the mirror with this damage. */
function damaged(damage: (db: Database.Database) => void): string {
  const file = join(rig.folder, `copy-${copies++}.sqlite`);
  expectUnreadable(file);
  writeFileSync(file, sound);
  const db = new Database(file);
  db.pragma("foreign_keys = off");
  damage(db);
  db.close();
  return file;
}

function problemsIn(file: string): readonly CheckProblem[] {
  const mirror = openMirrorReader(file);
  try {
    return checkMirror(mirror, kinds).problems;
  } finally {
    mirror.close();
  }
}

/** Changes one bit of one row's body. */
function flipBit(db: Database.Database, table: string, id: number, bit: number): void {
  const body = db.prepare<[number], Buffer>(`select body from ${table} where id = ?`).pluck().get(id);
  if (body === undefined) throw new Error(`${table} has no row ${id}`);
  const position = bit % (body.byteLength * 8);
  body.writeUInt8(body.readUInt8(position >> 3) ^ (1 << (position & 7)), position >> 3);
  db.prepare(`update ${table} set body = ? where id = ?`).run(body, id);
}

describe("check", () => {
  it("a mirror with sound compressed bodies has no problems", () => {
    expect(problemsIn(damaged(() => {}))).toEqual([]);
  });

  it("every changed bit of a compressed body is found, unless it does not change the body", () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 42 }), fc.nat(), (id, place) => {
        const file = damaged((db) => flipBit(db, "_content", id, place));
        const mirror = openMirrorReader(file);
        const length = mirror.db.prepare<[number], number>("select length(body) from _content where id = ?");
        const bits = 8 * (length.pluck().get(id) ?? 0);
        mirror.close();
        // The padding of the last byte has no meaning.
        if (problemsIn(file).length === 0) expect(place % bits).toBeGreaterThanOrEqual(bits - 8);
        else expect(problemsIn(file)[0]).toMatchObject({ code: "body", where: `_content ${id}` });
      }),
      { numRuns: tries(15, 500) },
    );
  });

  it("every changed bit of a dictionary is found, and reported first", () => {
    fc.assert(
      fc.property(fc.nat(), (place) => {
        const [first] = problemsIn(damaged((db) => flipBit(db, "_dictionary", 1, place)));
        expect(first).toMatchObject({ code: "body", where: "_dictionary 1" });
      }),
      { numRuns: 30 },
    );
  });

  it.each<[string, string, object]>([
    ["a missing dictionary", "delete from _dictionary", { code: "foreign-key", where: "_content" }],
    [
      "an unknown codec",
      "update _content set codec = 'other' where id = 5",
      { code: "body", where: "_content 5", message: expect.stringContaining('"other"') },
    ],
    [
      "a missing reference to a dictionary",
      "update _content set dictionary_id = null where id = 5",
      { code: "body", where: "_content 5" },
    ],
    [
      "a body with the declared size 0",
      "update _content set size = 0 where id = 5",
      { code: "body", where: "_content 5" },
    ],
    [
      "a body with an enormous declared size",
      "update _content set size = 9000000000000000000 where id = 5",
      { code: "body", where: "_content 5" },
    ],
  ])("%s is found", (_case, damage, expected) => {
    expect(problemsIn(damaged((db) => db.exec(damage)))[0]).toMatchObject(expected);
  });

  it("a body that is longer than any response is not decompressed", () => {
    const body = Buffer.alloc(2 ** 24 + 1, " ");
    const file = damaged((db) =>
      db
        .prepare("update _content set size = ?, sha256 = ?, body = ?, dictionary_id = null where id = 5")
        .run(body.length, hash("sha256", body, "buffer"), deflateRawSync(body)),
    );
    expect(problemsIn(file)[0]).toMatchObject({
      ...{ code: "body", where: "_content 5" },
      message: expect.stringContaining("more than 16777216 bytes"),
    });
  });

  it("the resource of an unreadable body is named", () => {
    const file = damaged((db) => db.exec("update _content set body = x'ff' where id = 5"));
    const readUrl = new Database(file)
      .prepare("select url from _resource r join _revision v on v.resource_id = r.id where v.content_id = 5")
      .pluck();
    const problem = { code: "body", where: readUrl.get() };
    expect(problem.where).toContain(urlOf("brand/"));
    expect(problemsIn(file)).toContainEqual(expect.objectContaining(problem));
  });
});

it.each([
  ["a body that cannot be read", "update _content set body = x'ff' where id = 5"],
  ["a missing dictionary", "delete from _dictionary"],
])("a rebuild of a mirror with %s fails as damaged", async (_case, damage) => {
  const file = damaged((db) => db.exec(damage));
  await expect(rebuildMirror({ file, kinds, openedAt: someTime })).rejects.toThrow(
    expect.objectContaining({ name: "MirrorError", code: "damaged" }),
  );
});
