import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { entities, listTables } from "../../schema/entities.ts";
import { migrations } from "../../schema/migrations.ts";
import { columnsOf } from "../../schema/rows-from-body.ts";
import type { MirrorTables } from "../../schema/tables.ts";
import { migrate } from "../../src/mirror/file/migrate.ts";
import { columnsIn, type MemoryMirror, memoryMirror, namesOf } from "./support/memory-mirror.ts";

const folder = new URL("../../schema/migrations/", import.meta.url);

/** The SHA-256 of each migration's file: what was released is applied in people's mirrors and can't change any more. */
const released: Readonly<Record<string, string>> = {
  "0001-initial": "c3ee7aa2eb34f093e756780fc756793b8769a103a83df0f895fc0ae2dfc8316b",
  "0002-absence": "19e52de0d1d264a141c8b2e578f3ac5a10074470671a51d8b055efe6629e16bc",
  "0003-history": "d1a5a2f6019341c959f88df92640b0d46a1ba76dc8acc66354e0de8a33a058a7",
  "0004-compact-bodies": "c9990fe267c78c32c0cd1128be1d4d7fcd5955bb0b97d1637891c5acf498204b",
  "0005-fetched-run": "a8cfffa64cc968f74de90db33d806ddd25963ae49869a5a34e225862af56bd9c",
  "0006-search": "ec837f18c9ed62e6658fcd03bc31dc50269c8d93147988a4461c097dbeb65d1e",
  "0007-retention": "d7558577ad116f1077705eb7dbc12e8d4e5487a2a3055b4bbb75bdf8455cf0ad",
  "0008-times": "ea572792ff03f873622beeca2ad274c30cc9aca1441b909317dabacf4a736483",
  "0009-media": "015ddc4c3ddbb7d6f1a3db6688a7d5c40952cd712a74bb8437f1caab7f22a561",
};

const link = { from_id: true, name: true, kind: true, to_id: true, noted_url: true } as const;
const member = { page_id: true, n: true, item_id: true, name: true } as const;

/** The type checker holds this to `MirrorTables`, and a test holds it to the migrations. */
const bookkeeping: { [Table in keyof MirrorTables]: Record<keyof MirrorTables[Table], true> } = {
  _meta: { key: true, value: true },
  _run: {
    id: true,
    started_at: true,
    ended_at: true,
    mode: true,
    scope_json: true,
    stopped: true,
    counts_json: true,
    forgotten_at: true,
  },
  _resource: {
    id: true,
    url: true,
    kind: true,
    owner_id: true,
    state: true,
    etag: true,
    checked_run: true,
    checked_at: true,
    first_run: true,
    gone_run: true,
    attempts: true,
    error: true,
    absent_run: true,
    absent_by: true,
    fetched_run: true,
  },
  _content: { id: true, sha256: true, codec: true, size: true, body: true, dictionary_id: true },
  _dictionary: { id: true, kind: true, sha256: true, body: true },
  _revision: {
    resource_id: true,
    seq: true,
    content_id: true,
    from_run: true,
    to_run: true,
    status: true,
    fetched_at: true,
    base_url: true,
    seen_run: true,
    seen_at: true,
  },
  _resource_past: { id: true, to_run: true, kind: true, owner_id: true, state: true, gone_run: true },
  _link: { ...link, from_run: true },
  _link_past: { ...link, from_run: true, to_run: true },
  _pass: { collection_id: true, verdict: true, from_run: true, reread_run: true, judged: true },
  _page: { id: true, collection_id: true, next_id: true, total: true },
  _member: { ...member, from_run: true },
  _member_past: { ...member, from_run: true, to_run: true },
  _search: { id: true, resource_id: true, kind: true, text: true, from_run: true, to_run: true },
  _media: { id: true, url: true, etag: true, last_modified: true, checked_at: true, error: true },
  _media_file: { media_id: true, seq: true, sha256: true, type: true, size: true, fetched_at: true },
  _media_use: { resource_id: true, field: true, media_id: true, is_current: true },
  _issue: { resource_id: true, pointer: true, code: true, detail: true, run_id: true },
};

describe("the migrations", () => {
  it.each(Object.keys(migrations))("keep the text with which %s was released", (name) => {
    const sha256 = createHash("sha256")
      .update(readFileSync(new URL(`${name}.ts`, folder)))
      .digest("hex");
    expect(
      sha256,
      `schema/migrations/${name}.ts was changed, but mirrors that have it applied will not get the change: ` +
        "undo it and add a new migration instead (and its SHA-256 to this test)",
    ).toBe(released[name]);
  });

  it("are all listed, once each and in the order of their names", () => {
    const files = readdirSync(folder).map((file) => file.replace(/\.ts$/, ""));
    expect(Object.keys(migrations)).toEqual(files.sort());
    expect(Object.keys(released)).toEqual(files);
  });
});

describe("a mirror's tables", () => {
  let db: MemoryMirror;
  beforeAll(async () => {
    db = await memoryMirror();
  });

  it.each(entities)("hold exactly the columns of a $table", (entity) => {
    const { table, references } = entity;
    const expected = ["id", ...references.map((name) => `${name}_id`), ...columnsOf(entity), "from_run"];
    expect(columnsIn(db, `_${table}`).sort()).toEqual(expected.toSorted());
    expect(columnsIn(db, `_${table}_past`).sort()).toEqual([...expected, "to_run"].sort());
  });

  it.each(listTables)("hold exactly the columns of a $table", (list) => {
    const expected = ["parent_id", "n", ...list.columns, "from_run"];
    expect(columnsIn(db, `_${list.table}`)).toEqual(expected);
    expect(columnsIn(db, `_${list.table}_past`)).toEqual([...expected, "to_run"]);
  });

  it.each(Object.entries(bookkeeping))("hold exactly the columns of %s", (table, columns) => {
    expect(columnsIn(db, table).sort()).toEqual(Object.keys(columns).sort());
  });

  it("are these, and the migrations' own", () => {
    const typed = [...entities, ...listTables].flatMap(({ table }) => [`_${table}`, `_${table}_past`]);
    const index = ["", "_config", "_data", "_docsize", "_idx"].map((part) => `_search_index${part}`);
    expect(namesOf(db, "table")).toEqual(
      [...typed, ...Object.keys(bookkeeping), ...index, "_migration", "_migration_lock"].sort(),
    );
  });

  it("are strict, so that a column never changes what it is given", () => {
    const lax = db
      .prepare(
        "select name from pragma_table_list where schema = 'main' and type = 'table' and strict = 0 and name not like 'sqlite_%'",
      )
      .pluck()
      .all();
    expect(lax.sort()).toEqual(["_migration", "_migration_lock"]);
  });

  it("stay as they are when the migrations run again", async () => {
    const schema = () => db.prepare("select type, name, sql from sqlite_schema order by name").all();
    const before = schema();
    await migrate(db);
    expect(schema()).toEqual(before);
  });
});
