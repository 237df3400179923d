import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { entities, listTables } from "../../schema/entities.ts";
import { migrations, schemaDigests } from "../../schema/migrations.ts";
import { columnsOf } from "../../schema/rows-from-body.ts";
import type { MirrorTables } from "../../schema/tables.ts";
import { schemaDigest } from "../../src/mirror/file/definitions.ts";
import { migrate, migrateMirror } from "../../src/mirror/file/migrate.ts";
import { columnsIn, type MemoryMirror, memoryMirror, namesOf } from "./support/memory-mirror.ts";

const folder = new URL("../../schema/migrations/", import.meta.url);

/** The SHA-256 of each migration's file. Released migrations are applied in users' mirrors and cannot change. */
const released: Readonly<Record<string, string>> = {
  "0001-initial": "4793478a39137c8b183c2f731c04e5b9fdcf55df95ce3b2e4429f4c96a0387e1",
  "0002-postponed": "9f7aef4209974a4c0860f631aed61f1d45f8a0a3da1de25732e0054676fdc349",
  "0003-snapshots": "d6d7bf364b3dcf6030e410f5a0c30c5373ce8c7b82c79c650dc651a6577cc2a6",
  "0004-linked-checks": "05aa5cd74e0aef218ddbf7bd559d88f2bb1bd24940c9abd8a7a17e6bfbefcc13",
  "0005-worth": "b53da744c52a80a5e4f8ed41b121d080b3afe0c1cfc415b11537513dae12aa86",
};

/** One key for each column. */
const row = <Column extends string>(...columns: readonly Column[]) =>
  Object.fromEntries(columns.map((column) => [column, true])) as Record<Column, true>;

const versions = { from_run: true, to_run: true } as const;
const brand = row(
  "id",
  "service_url",
  "bra_count",
  "name",
  "slug",
  "default_sizing_system",
  "default_sizing_name",
  "logo",
  "twitter",
  "facebook",
  "official_url",
  "last_modified_at",
  "from_run",
);
const model = row(
  "id",
  "brand_id",
  "service_url",
  "code",
  "name",
  "full_name",
  "slug",
  "brand_slug",
  "bra_count",
  "is_discontinued",
  "type",
  "official_url",
  "main_picture",
  "main_stock_picture",
  "last_modified_at",
  "from_run",
);
const picture = row("parent_id", "n", "url", "text", "from_run");
const size = row(
  "id",
  "model_id",
  "service_url",
  "size",
  "band",
  "cup",
  "bra_count",
  "main_picture",
  "alternative_sizes",
  "last_modified_at",
  "from_run",
);
const user = row(
  "id",
  "username",
  "service_url",
  "user_id",
  "reputation",
  "avatar",
  "is_verified",
  "email",
  "from_run",
);
const bra = row(
  "id",
  "brand_id",
  "model_id",
  "size_id",
  "service_url",
  "name",
  "brand",
  "model",
  "size",
  "is_owned",
  "is_custom",
  "is_altered",
  "altered_band",
  "hooks",
  "bust_perimeter",
  "strap_width",
  "cup_separation",
  "cup_depth",
  "wire_length",
  "gore_height",
  "wing_height",
  "band_length",
  "stretched_band_length",
  "note",
  "from_run",
);
const braSize = row("parent_id", "n", "system", "size", "from_run");
const measurement = row("parent_id", "n", "payload", "from_run");
const link = { from_id: true, name: true, kind: true, to_id: true, unfollowed_url: true } as const;
const member = { page_id: true, n: true, item_id: true, name: true } as const;

/** The compiler compares this with `MirrorTables`, and a test compares it with the migrated file. */
const tables: { [Table in keyof MirrorTables]: Record<keyof MirrorTables[Table], true> } = {
  _meta: { key: true, value: true },
  _run: {
    id: true,
    started_at: true,
    ended_at: true,
    mode: true,
    scope_json: true,
    stopped: true,
    counts_json: true,
    coverage_json: true,
    pruned_at: true,
  },
  _resource: {
    id: true,
    url: true,
    kind: true,
    owner_id: true,
    state: true,
    etag: true,
    checked_run: true,
    last_checked_run: true,
    recheck: true,
    checked_at: true,
    first_run: true,
    gone_run: true,
    attempts: true,
    error: true,
    absent_run: true,
    absent_by: true,
    fetched_run: true,
    retry_at: true,
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
    sent_at: true,
    modified_at: true,
    headers_id: true,
    etag: true,
    seen_run: true,
    seen_at: true,
  },
  _snapshot: {
    id: true,
    root_hash: true,
    taken_on: true,
    seen_by: true,
    source: true,
    signed_by: true,
    sequence: true,
    validators: true,
    sample_seed: true,
    sample_size: true,
    condemned_at: true,
    condemned_by: true,
  },
  _loaded: {
    resource_id: true,
    seq: true,
    snapshot_id: true,
    etag: true,
    sampled: true,
    validator_run: true,
    bytes_run: true,
  },
  _linked_check: { resource_id: true, seq: true, checked_run: true, checked_at: true },
  _resource_past: { id: true, to_run: true, kind: true, owner_id: true, state: true, gone_run: true },
  _link: { ...link, from_run: true },
  _link_past: { ...link, from_run: true, to_run: true },
  _headers: { id: true, content_type: true, link: true },
  _drift: { kind: true, pointer: true, code: true, first_run: true },
  _pass: { collection_id: true, status: true, from_run: true, reread_run: true, page_versions: true },
  _page: { id: true, collection_id: true, next_id: true, total: true, page_total: true, doubt: true },
  _member: { ...member, from_run: true },
  _member_past: { ...member, from_run: true, to_run: true },
  _search: { id: true, resource_id: true, kind: true, text: true, from_run: true, to_run: true },
  _media: { id: true, url: true, etag: true, last_modified: true, checked_at: true, error: true },
  _media_file: { media_id: true, seq: true, sha256: true, type: true, size: true, fetched_at: true },
  _media_use: { resource_id: true, field: true, media_id: true, is_current: true },
  _issue: { resource_id: true, pointer: true, code: true, detail: true, run_id: true },
  _brand: brand,
  _brand_past: { ...brand, ...versions },
  _model: model,
  _model_past: { ...model, ...versions },
  _model_picture: picture,
  _model_picture_past: { ...picture, ...versions },
  _size: size,
  _size_past: { ...size, ...versions },
  _user: user,
  _user_past: { ...user, ...versions },
  _bra: bra,
  _bra_past: { ...bra, ...versions },
  _bra_size: braSize,
  _bra_size_past: { ...braSize, ...versions },
  _measurement: measurement,
  _measurement_past: { ...measurement, ...versions },
};

describe("the migrations", () => {
  it.each(Object.keys(migrations))("%s is unchanged since its release", (name) => {
    const sha256 = createHash("sha256")
      .update(readFileSync(new URL(`${name}.ts`, folder)))
      .digest("hex");
    expect(
      sha256,
      `schema/migrations/${name}.ts was changed, but mirrors that have it applied will not get the change: ` +
        "undo it and add a new migration instead (and its SHA-256 to this test)",
    ).toBe(released[name]);
  });

  it("every migration is listed once, in the order of names", () => {
    const files = readdirSync(folder).map((file) => file.replace(/\.ts$/, ""));
    expect(Object.keys(migrations)).toEqual(files.sort());
    expect(Object.keys(released)).toEqual(files);
  });

  it.each(Object.keys(migrations).map((name, index) => [name, index] as const))(
    "a mirror with the migrations up to %s has the tables with which its version is recognized",
    async (name, index) => {
      const db = new Database(":memory:");
      await migrate(db, Object.fromEntries(Object.entries(migrations).slice(0, index + 1)));
      expect(schemaDigests[name]).toBe(schemaDigest(db));
    },
  );
});

describe("a mirror's tables", () => {
  let db: MemoryMirror;
  beforeAll(async () => {
    db = await memoryMirror();
  });

  it.each(entities)("the table of a $table has exactly its columns", (entity) => {
    const { table, references } = entity;
    const expected = ["id", ...references.map((name) => `${name}_id`), ...columnsOf(entity), "from_run"];
    expect(columnsIn(db, `_${table}`).sort()).toEqual(expected.toSorted());
    expect(columnsIn(db, `_${table}_past`).sort()).toEqual([...expected, "to_run"].sort());
  });

  it.each(listTables)("the table of a $table list has exactly its columns", (list) => {
    const expected = ["parent_id", "n", ...list.columns, "from_run"];
    expect(columnsIn(db, `_${list.table}`)).toEqual(expected);
    expect(columnsIn(db, `_${list.table}_past`)).toEqual([...expected, "to_run"]);
  });

  it.each(Object.entries(tables))("%s has exactly the declared columns", (table, columns) => {
    expect(columnsIn(db, table).sort()).toEqual(Object.keys(columns).sort());
  });

  it("the declared tables are all tables, besides those of migrations", () => {
    const index = ["", "_config", "_data", "_docsize", "_idx"].map((part) => `_search_index${part}`);
    expect(namesOf(db, "table")).toEqual(
      [...Object.keys(tables), ...index, "_migration", "_migration_lock"].sort(),
    );
  });

  it("all tables are strict, so that columns store values unchanged", () => {
    const lax = db
      .prepare(
        "select name from pragma_table_list where schema = 'main' and type = 'table' and strict = 0 and name not like 'sqlite_%'",
      )
      .pluck()
      .all();
    expect(lax.sort()).toEqual(["_migration", "_migration_lock"]);
  });

  it("a second run of the migrations changes nothing", async () => {
    const schema = () => db.prepare("select type, name, sql from sqlite_schema order by name").all();
    const before = schema();
    await migrateMirror(db);
    expect(schema()).toEqual(before);
  });
});
