/** `datapackage.json` of a mirror's export: valid by the standard's own schema, with types, keys and references. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import type { Publication } from "../../exports/package/descriptor.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

const profile = JSON.parse(
  readFileSync(new URL("profiles/datapackage-2.0.json", import.meta.url), "utf8"),
) as object;
// The profile has keywords for editors.
const isValid = new Ajv({ strict: false, validateFormats: false }).compile(profile);

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 4, models: 8, sizes: 16 });
});
afterAll(() => rig[Symbol.asyncDispose]());

async function describeExport(name: string, publication: Publication = {}) {
  const out = join(rig.file, "..", name);
  await exportMirror({
    ...{ file: rig.file, out, formats: ["csv", "json", "ndjson", "parquet", "sqlite"], tables: [] },
    ...{ toolVersion: "0.1.0", publication },
  });
  const text = readFileSync(join(out, "datapackage.json"), "utf8");
  return { text, descriptor: JSON.parse(text) };
}

describe("of a complete mirror", () => {
  beforeAll(async () => {
    await rig.sync({ follow: ["related"] });
  });

  it("the descriptor is valid by the standard's schema, and an invalid one is not", async () => {
    const { descriptor } = await describeExport("valid", { license: "ODbL-1.0", citation: "Ada (2026)" });
    isValid(descriptor);
    expect(isValid.errors).toBeNull();
    expect(descriptor).toMatchObject({ licenses: [{ name: "ODbL-1.0" }], citation: "Ada (2026)" });
    const { resources, ...empty } = descriptor;
    expect(isValid(empty)).toBe(false);
    expect(isValid({ ...empty, resources: resources.map(() => ({ name: "x" })) })).toBe(false);
  });

  it("the descriptor states the service, the run, its end and the coverage", async () => {
    const { descriptor } = await describeExport("state");
    const { sources, created, armoire } = descriptor;
    expect(sources).toEqual([{ title: new URL(rig.sandbox.url).host, path: rig.sandbox.url }]);
    expect(armoire).toMatchObject({
      run: 1,
      baseUrl: rig.sandbox.url,
      csv: "guarded",
      coverage: { complete: true },
    });
    expect(created).toBe(armoire.endedAt);
    expect(Date.parse(created)).toBeLessThanOrEqual(rig.clock.now());
  });

  it("each file has its columns with types, meanings and keys, its rows, bytes and SHA-256", async () => {
    const { descriptor } = await describeExport("columns");
    const names = descriptor.resources.map(({ name }: { name: string }) => name);
    expect(names.slice(0, 5)).toEqual(["brand", "brand-json", "brand-ndjson", "brand-parquet", "model"]);
    const size = descriptor.resources[names.indexOf("size")];
    expect(size).toMatchObject({ path: "size.csv", rows: 16, bytes: expect.any(Number), format: "csv" });
    expect(size.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    const typeOf = (field: string) =>
      size.schema.fields.find(({ name }: { name: string }) => name === field).type;
    expect(["href", "band", "alternative_sizes", "gone_at"].map(typeOf)).toEqual([
      ...["string", "integer", "object", "datetime"],
    ]);
    expect(size.schema.primaryKey).toEqual(["href"]);
    expect(size.schema.foreignKeys).toEqual([
      { fields: ["model_href"], reference: { resource: "model", fields: ["href"] } },
      { fields: ["brand_href"], reference: { resource: "brand", fields: ["href"] } },
    ]);
    const model = descriptor.resources[names.indexOf("model-json")];
    const flagIn = (resource: { schema: { fields: { name: string }[] } }) =>
      resource.schema.fields.find(({ name }) => name === "is_discontinued");
    expect(flagIn(descriptor.resources[names.indexOf("model")])).toMatchObject({
      type: "boolean",
      trueValues: ["1"],
    });
    expect(flagIn(model)).not.toHaveProperty("trueValues");
    expect(flagIn(model)).toMatchObject({ type: "boolean" });
    expect(model.schema.foreignKeys[0].reference.resource).toBe("brand-json");
  });

  it("the same state gives the same descriptor", async () => {
    expect((await describeExport("first")).text).toBe((await describeExport("second")).text);
  });
});

it("a reference that a row breaks is not stated", async () => {
  await using broken = await startRig({ brands: 3, models: 6, sizes: 6 });
  await broken.sync();
  const db = new Database(broken.file);
  db.exec("delete from _brand where id = (select brand_id from _model limit 1)");
  db.close();
  const out = join(broken.file, "..", "out");
  await exportMirror({ file: broken.file, out, formats: ["csv"], tables: [], toolVersion: "0.1.0" });
  const { resources } = JSON.parse(readFileSync(join(out, "datapackage.json"), "utf8"));
  const keysOf = (table: string) =>
    resources.find(({ name }: { name: string }) => name === table).schema.foreignKeys ?? [];
  expect(keysOf("model")).toEqual([]);
  expect(keysOf("size").map(({ fields }: { fields: string[] }) => fields)).toEqual([["model_href"]]);
});
