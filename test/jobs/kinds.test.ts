/** The table of kinds is consistent: every link leads to a kind of the table. */
import { describe, expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { entities } from "../../schema/entities.ts";
import { depths } from "../../schema/kind.ts";
import { columnsOf } from "../../schema/rows-from-body.ts";
import { kindsInScope } from "../../src/sync/options.ts";

const all = Object.values(kinds);

describe.each(all.map((kind) => [kind.name, kind] as const))("%s", (_name, kind) => {
  const links = { ...kind.children, ...kind.references, ...kind.optional };

  it("a kind has links to existing kinds, each to one", () => {
    for (const target of Object.values(links)) expect(Object.keys(kinds)).toContain(target);
    const names = [kind.children, kind.references, kind.optional].flatMap((group) => Object.keys(group));
    expect(new Set(names).size).toBe(names.length);
  });

  it("a kind has items exactly if it may be a collection, of an existing entity kind", () => {
    expect(kind.items !== undefined).toBe(kind.rel === "collection" || kind.rel === null);
    if (kind.items === undefined) return;
    expect(kinds[kind.items.kind]?.rel).toBe("entity");
    expect(Object.keys(kind.items.summary.fields.shape)).toEqual(
      expect.arrayContaining(["href", kind.items.summary.nameField]),
    );
  });

  it("a kind owns only kinds of its own area", () => {
    if (kind.name === "root") return;
    const owned = [...Object.values(kind.children), ...(kind.items?.owned ? [kind.items.kind] : [])];
    for (const name of owned) expect(kinds[name]?.areas).toEqual(kind.areas);
  });

  it("a kind has a name of lowercase letters and underscores", () => {
    expect(kind.name).toMatch(/^[a-z_]+$/);
  });
});

it("every reference column of an entity is a link of its kind", () => {
  const kindOf: Record<string, string> = { user: "me" };
  for (const entity of entities) {
    const kind = kinds[kindOf[entity.table] ?? entity.table];
    for (const name of entity.references) {
      expect(Object.keys({ ...kind?.children, ...kind?.references })).toContain(name);
    }
    if (entity.owner !== null) expect(entity.references).toContain(entity.owner);
    expect(columnsOf(entity)).not.toContain("id");
  }
});

it("every kind of an area is reached by some sync of that area", () => {
  const links = ["related", "same_cut", "adjacent_sizes"];
  const reached = {
    catalogue: depths.flatMap((depth) => kindsInScope(kinds, "catalogue", depth, links)),
    account: kindsInScope(kinds, "account", "sizes", []),
  };
  for (const { name, areas } of all) {
    for (const area of areas) expect(reached[area]).toContain(name);
  }
});

it("each depth includes the previous one", () => {
  const scopes = depths.map((depth) => kindsInScope(kinds, "catalogue", depth, []));
  expect(scopes).toEqual([
    ["root", "brands", "brand"],
    ["root", "brands", "brand", "models", "model"],
    ["root", "brands", "brand", "models", "model", "sizes", "size"],
  ]);
});
