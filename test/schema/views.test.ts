import { beforeEach, describe, expect, it } from "vitest";
import { entities } from "../../schema/entities.ts";
import { columnsOf } from "../../schema/rows-from-body.ts";
import { views } from "../../schema/views.ts";
import { columnsIn, type MemoryMirror, memoryMirror, namesOf, readTable } from "./support/memory-mirror.ts";

const ownersByTable: Readonly<Record<string, readonly string[]>> = {
  brand: [],
  model: ["brand_href"],
  size: ["model_href", "brand_href"],
  user: [],
  bra: ["brand_href", "model_href", "size_href"],
};

describe("the public views", () => {
  let db: MemoryMirror;
  beforeEach(async () => {
    db = await memoryMirror({ "u:brand": "brand", "u:model": "model", "u:size": "size", "u:gone": "brand" });
  });

  it("all views exist", () => {
    expect(namesOf(db, "view")).toEqual(Object.keys(views).sort());
    expect(namesOf(db, "view")).toEqual([
      "bra",
      "bra_size",
      "brand",
      "brand_current",
      "coverage",
      "cup_order",
      "known",
      "measurement",
      "measurement_value",
      "media",
      "model",
      "model_current",
      "model_picture",
      "recently_changed",
      "relation",
      "resource_key",
      "schema_drift",
      "size",
      "size_current",
      "size_label",
      "user",
    ]);
  });

  it.each(Object.keys(views))("%s can be selected from", (name) => {
    expect(() => readTable(db, name)).not.toThrow();
    expect(columnsIn(db, name).length).toBeGreaterThan(0);
  });

  it.each(entities)("the view of a $table has its URL, its owners, its fields and its times", (entity) => {
    const owners = ownersByTable[entity.table] ?? [];
    const expected = ["href", ...owners, ...columnsOf(entity), "first_seen_at", "checked_at", "gone_at"];
    const confirmed = ["brand", "model", "size"].includes(entity.table) ? ["confirmed"] : [];
    expect(columnsIn(db, entity.table)).toEqual([...expected, ...confirmed]);
  });

  it("each row has its URL and those of its owners", () => {
    db.exec("insert into _brand (id, name, from_run) values (1, 'Anita', 1)");
    db.exec("insert into _model (id, brand_id, name, from_run) values (2, 1, 'Rosa', 1)");
    db.exec("insert into _size (id, model_id, size, from_run) values (3, 2, '65HH', 1)");
    db.exec("insert into _model_picture (parent_id, n, url, from_run) values (2, 0, 'p', 1)");
    expect(readTable(db, "model")[0]).toMatchObject({ href: "u:model", brand_href: "u:brand", name: "Rosa" });
    expect(readTable(db, "size")[0]).toMatchObject({
      href: "u:size",
      model_href: "u:model",
      brand_href: "u:brand",
      first_seen_at: "2025-11-03T00:00:00Z",
      gone_at: null,
    });
    expect(readTable(db, "model_picture")).toEqual([{ model_href: "u:model", n: 0n, url: "p", text: null }]);
  });

  it("a size without a fetched model is shown", () => {
    db.exec("insert into _size (id, model_id, size, from_run) values (3, 2, '65HH', 1), (1, null, '70H', 1)");
    expect(readTable(db, "size").map(({ model_href, brand_href }) => [model_href, brand_href])).toEqual(
      expect.arrayContaining([
        ["u:model", null],
        [null, null],
      ]),
    );
  });

  it("only the `_current` views omit tombstones", () => {
    db.exec("insert into _brand (id, name, from_run) values (1, 'Anita', 1), (4, 'Gone', 1)");
    db.exec("update _resource set state = 'gone', gone_run = 1 where id = 4");
    expect(readTable(db, "brand").map(({ name }) => name)).toEqual(["Anita", "Gone"]);
    expect(readTable(db, "brand_current").map(({ name }) => name)).toEqual(["Anita"]);
  });

  it("a relation with an item on two pages is shown once", () => {
    db.exec(`insert into _resource (id, url, kind, state, first_run) values
      (5, 'u:related', 'related_brands', 'held', 1), (6, 'u:related?page=2', 'related_brands', 'held', 1)`);
    db.exec(
      "insert into _link (from_id, name, kind, to_id, from_run) values (1, 'related', 'related_brands', 5, 1)",
    );
    db.exec("insert into _page (id, collection_id) values (5, 5), (6, 5)");
    db.exec("insert into _member (page_id, n, item_id, from_run) values (5, 0, 4, 1), (6, 0, 4, 1)");
    expect(readTable(db, "relation")).toEqual([{ href: "u:brand", name: "related", related_href: "u:gone" }]);
  });
});
