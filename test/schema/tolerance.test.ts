import { describe, expect, it } from "vitest";
import { entities } from "../../schema/entities.ts";
import { columnsOf } from "../../schema/rows-from-body.ts";
import { goldenEntity, projectCleanly } from "./support/golden.ts";
import { type FieldType, jsonValue, readings, wrongTexts } from "./support/wrong-values.ts";

/** The type of each field by specification and field notes, deliberately written a second time. */
const fieldTypes: Readonly<Record<string, Readonly<Record<FieldType, string>>>> = {
  brand: {
    text: "service_url name slug default_sizing_system default_sizing_name logo official_url last_modified_at",
    integer: "bra_count",
    decimal: "",
    flag: "",
    open: "twitter facebook",
    document: "",
  },
  model: {
    text: "service_url code name full_name slug brand_slug type official_url main_picture last_modified_at",
    integer: "bra_count",
    decimal: "",
    flag: "is_discontinued",
    open: "main_stock_picture",
    document: "",
  },
  size: {
    text: "service_url size cup main_picture last_modified_at",
    integer: "band bra_count",
    decimal: "",
    flag: "",
    open: "",
    document: "alternative_sizes",
  },
  user: {
    text: "username service_url email",
    integer: "user_id reputation",
    decimal: "",
    flag: "is_verified",
    open: "",
    document: "avatar",
  },
  bra: {
    text: "service_url name brand model size note",
    integer: "hooks",
    decimal:
      "bust_perimeter strap_width cup_separation cup_depth wire_length gore_height wing_height band_length stretched_band_length",
    flag: "is_owned is_custom is_altered altered_band",
    open: "",
    document: "",
  },
};

const cases = entities.map((entity) => {
  const types = Object.entries(fieldTypes[entity.table] ?? {}) as [FieldType, string][];
  const fields = types.flatMap(([type, names]) =>
    (names.match(/\S+/g) ?? []).map((name) => ({ name, type })),
  );
  return { table: entity.table, entity, fields, file: entity.table === "user" ? "me" : entity.table };
});

describe.each(cases)("a $table with a wrong field", ({ entity, fields, file }) => {
  const intact = projectCleanly(entity, goldenEntity(file));

  it("the row has these columns and no others", () => {
    expect(fields.map(({ name }) => name).sort()).toEqual(columnsOf(entity).sort());
  });

  it.each(fields)("the row keeps all other columns, and has $name as $type or null", ({ name, type }) => {
    for (const text of wrongTexts) {
      const golden = goldenEntity(file);
      golden.body[name] = jsonValue(text);
      const isRead = Object.hasOwn(readings[type], text);
      expect(projectCleanly(entity, golden), `${name}: ${text}`).toEqual({
        columns: { ...intact.columns, [name]: isRead ? readings[type][text] : null },
        lists: intact.lists,
        issues: isRead ? [] : [{ pointer: `/body/${name}`, code: "wrong-type" }],
      });
    }
  });

  it.each(fields)("the row has null for a missing $name, without an issue", ({ name }) => {
    const golden = goldenEntity(file);
    delete golden.body[name];
    expect(projectCleanly(entity, golden)).toEqual({
      ...intact,
      columns: { ...intact.columns, [name]: null },
    });
  });

  it("the issues have each wrong field with its own pointer", () => {
    const golden = goldenEntity(file);
    for (const { name } of fields) golden.body[name] = jsonValue("true");
    const wrong = fields.filter(({ type }) => type !== "flag" && type !== "open");
    const { issues } = projectCleanly(entity, golden);
    expect(issues.map(({ pointer }) => pointer).sort()).toEqual(
      wrong.map(({ name }) => `/body/${name}`).sort(),
    );
  });

  it("unknown fields are reported, and the row keeps all columns", () => {
    const golden = goldenEntity(file);
    golden.body["a/b~c"] = 1;
    Object.assign(golden.body, { toString: "text" });
    expect(projectCleanly(entity, golden)).toEqual({
      ...intact,
      issues: [
        { pointer: "/body/a~1b~0c", code: "unknown-field" },
        { pointer: "/body/toString", code: "unknown-field" },
      ],
    });
  });

  it("the row has no fields from a __proto__ key", () => {
    for (const serviceName of ["service", "other"]) {
      const evil = jsonValue(
        '{"other_url":"https://www.example/","__proto__":{"name":"evil","username":"evil"}}',
      );
      const { columns, issues } = projectCleanly(entity, { ...goldenEntity(file), body: evil }, serviceName);
      expect(Object.values(columns)).not.toContain("evil");
      expect(issues).toContainEqual({ pointer: "/body/__proto__", code: "unknown-field" });
    }
  });
});
