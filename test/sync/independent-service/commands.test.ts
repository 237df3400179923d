/** The commands against a service that was written from the specification alone, as processes on the system's clock. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dayMs } from "../../support/independent-service/options.ts";
import { readCsv } from "../../support/read-csv.ts";
import { callArmoire, startArmoire } from "../../support/run-armoire.ts";
import { differencesFromCatalogue } from "./support/compare-with-data.ts";
import { type IndependentRig, startIndependentRig } from "./support/rig.ts";

function settingsOf({ service, file }: IndependentRig): string[] {
  return ["--base-url", service.baseUrl, "--service-name", service.options.serviceName, "--mirror", file];
}

it("a crawl of an independent service continues where it was killed", async () => {
  await using rig = await startIndependentRig({ now: Date.now });
  for (const count of [40, 160]) {
    const { process, result } = startArmoire(["sync", ...settingsOf(rig)]);
    await rig.service.received(count);
    process.kill("SIGKILL");
    await result;
  }
  const last = await callArmoire(["sync", "--json", ...settingsOf(rig)]);
  expect(last).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(last.stdout)).toMatchObject({ complete: true, stopped: null });
  expect(differencesFromCatalogue(rig)).toEqual([]);
  expect(await callArmoire(["mirror", "check", ...settingsOf(rig)])).toMatchObject({ exitCode: 0 });
});

it("a diff of two crawls of an independent service shows exactly the edits between them", async () => {
  await using rig = await startIndependentRig();
  await rig.sync();
  rig.advance(dayMs);
  const { data, addresses } = rig.service;
  const [brand] = data.brands;
  const model = data.models.at(-1);
  if (!brand || !model) throw new Error("no data");
  Object.assign(brand, { twitter: "silent" });
  Object.assign(model, { type: "corset", isDiscontinued: !model.isDiscontinued });
  await rig.sync({ mode: "verify" });
  const { stdout } = await callArmoire(["diff", "--json", ...settingsOf(rig)]);
  const { changes } = JSON.parse(stdout) as { changes: unknown };
  const wasDiscontinued = !model.isDiscontinued;
  expect(changes).toEqual([
    expect.objectContaining({
      href: addresses.write({ document: "brand", id: brand.id }),
      fields: [{ field: "twitter", before: null, after: "silent" }],
    }),
    expect.objectContaining({
      href: addresses.write({ document: "model", id: model.id }),
      fields: [
        { field: "is_discontinued", before: Number(wasDiscontinued), after: Number(!wasDiscontinued) },
        { field: "type", before: "balconette", after: "corset" },
      ],
    }),
  ]);
});

describe("export of the independent service", () => {
  it("an export has each row of the service's data, in JSON and in CSV", async () => {
    await using rig = await startIndependentRig();
    await rig.sync();
    const out = join(rig.folder, "export");
    const exported = await callArmoire(["export", "--out", out, "--exact", ...settingsOf(rig)]);
    expect(exported).toMatchObject({ exitCode: 0 });
    const { brands, models, sizes } = rig.service.data;
    const pictures = models.flatMap((model) => model.pictures);
    const readJson = (table: string) =>
      JSON.parse(readFileSync(join(out, `${table}.json`), "utf8")) as Record<string, unknown>[];
    const texts = (table: string, column: string) =>
      readJson(table)
        .map((row) => row[column])
        .sort();
    expect(texts("brand", "name")).toEqual(brands.map(({ name }) => name).sort());
    expect(texts("model", "code")).toEqual(models.map(({ code }) => code).sort());
    expect(texts("size", "href")).toEqual(
      sizes.map(({ id }) => rig.service.addresses.write({ document: "size", id })).sort(),
    );
    expect(texts("model_picture", "text")).toEqual(pictures.map(({ text }) => text).sort());
    for (const table of ["brand", "model", "size", "model_picture"]) {
      const [header = [], ...records] = readCsv(readFileSync(join(out, `${table}.csv`), "utf8"));
      const names = header.map(({ text }) => text);
      const rows = readJson(table);
      expect(records).toHaveLength(rows.length);
      for (const [n, record] of records.entries()) {
        const cells = Object.fromEntries(
          record.map(({ text, isQuoted }, column) => [names[column], text === "" && !isQuoted ? null : text]),
        );
        expect(cells).toEqual(asTexts(rows[n] ?? {}));
      }
    }
  });

  it("an export of the same crawl through another layout differs in addresses only", async () => {
    const texts: string[] = [];
    for (const layout of ["own", "specified"] as const) {
      await using rig = await startIndependentRig({ layout });
      await rig.sync();
      const out = join(rig.folder, "export");
      await callArmoire(["export", "--out", out, "--table", "model", "--format", "json", ...settingsOf(rig)]);
      const rows = JSON.parse(readFileSync(join(out, "model.json"), "utf8")) as Record<string, unknown>[];
      const withoutAddresses = rows.map(({ href: _href, brand_href: _brand, ...row }) => JSON.stringify(row));
      texts.push(withoutAddresses.sort().join("\n"));
    }
    expect(texts[0]).toBe(texts[1]);
  });
});

/** A row of JSON as a CSV file has it: 1 and 0 for true and false, and objects as text. */
function asTexts(row: Readonly<Record<string, unknown>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null ? null : typeof value === "object" ? JSON.stringify(value) : textOf(value),
    ]),
  );
}

const textOf = (value: unknown) => String(typeof value === "boolean" ? Number(value) : value);
