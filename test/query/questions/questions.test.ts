/** Every canned question, compared with the same result computed from the sandbox's own data. */
import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { displayWidth } from "../../../src/cli/terminal/table/display-width.ts";
import { fittedLines } from "../../../src/cli/terminal/table/text-table.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import type { ShownKind } from "../../../src/query/keys/find-by-key.ts";
import { findResource } from "../../../src/query/keys/resolve-key.ts";
import { areasOf } from "../../../src/query/questions/question.ts";
import { listQuestions } from "../../../src/query/questions/questions.ts";
import type { QuestionOptions } from "../../../src/query/questions/resolve-parameters.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { catalogueOf, inOrder } from "../support/catalogue.ts";
import { collectRows } from "../support/collect-rows.ts";
import { runQuestionHere } from "../support/in-this-process.ts";
import { questionCases } from "../support/question-cases.ts";

type Rows = Record<string, unknown>[];

const questionsOfCatalogues = listQuestions().filter((question) => areasOf(question).includes("catalogue"));

let rig: Rig;
/** The bodies of brands, models and sizes before the changes, by URL. */
let before = new Map<string, { readonly kind: string; readonly text: string }>();
/** The run that saw the changes. */
const secondRun = 2;

beforeAll(async () => {
  rig = await startRig({ brands: 9, models: 40, sizes: 160, pageSize: 5 });
  await rig.sync({ follow: ["related", "same_cut"] });
  rig.sandbox.moveClock({ advanceSeconds: 86_400 });
  before = entitiesNow();
  rig.sandbox.advance({ steps: 6, changes: 6, additions: 4, removals: 1 });
  const report = await rig.sync({ follow: ["related", "same_cut"], mode: "verify", approve: true });
  expect(report).toMatchObject({ run: secondRun, complete: true });
});
afterAll(() => rig[Symbol.asyncDispose]());

async function questionRows(question: string, options: QuestionOptions = {}, file = rig.file): Promise<Rows> {
  const { columns, rows } = await runQuestionHere({ file, question, options });
  return (await collectRows(rows)).map((row) => Object.fromEntries(columns.map((name, n) => [name, row[n]])));
}

/** A valid value for each option. */
function someOptions(): QuestionOptions {
  const { brands, sizes } = catalogueOf(rig.sandbox);
  const [brand, size] = [brands[0], sizes[0]];
  return {
    ...{ brand: String(brand?.fields.slug), limit: 5, since: "2020-01-01", kind: "model" },
    ...{ size: String(size?.fields.size), system: String(size?.system) },
    ...{ band: "1-90", cup: "A-D" },
  };
}

function entitiesNow() {
  const records = [...rig.sandbox.truth()].filter(({ kind }) => ["brand", "model", "size"].includes(kind));
  return new Map(records.map(({ url, kind, body }) => [url, { kind, text: JSON.stringify(body) }]));
}

/** The URLs of one kind that the sandbox added, removed and changed. */
function changesOf(kind: string) {
  const after = entitiesNow();
  const urls = [...new Map([...before, ...after])]
    .filter(([, entity]) => entity.kind === kind)
    .map(([url]) => url);
  const sorted = (matches: (url: string) => boolean) => urls.filter(matches).sort();
  return {
    newest: sorted((url) => !before.has(url)),
    gone: sorted((url) => !after.has(url)),
    changed: sorted(
      (url) => before.has(url) && after.has(url) && before.get(url)?.text !== after.get(url)?.text,
    ),
  };
}

/** A copy of the mirror after these statements. */
function alteredMirror(name: string, ...statements: readonly string[]): string {
  const file = join(dirname(rig.file), `${name}.sqlite`);
  copyFileSync(rig.file, file);
  const db = new Database(file);
  for (const statement of statements) db.exec(statement);
  db.close();
  return file;
}

const heldModel = (extreme: "min" | "max") =>
  `select ${extreme}(id) from _resource where kind = 'model' and state = 'held'`;

it.each(questionsOfCatalogues)(
  "@$name runs with all of its options and with only the required ones",
  async ({ name, options }) => {
    const some = someOptions();
    const given = (names: readonly string[]) =>
      Object.fromEntries(names.map((option) => [option, some[option] ?? ""]));
    await questionRows(name, given(options.map((option) => option.name)));
    await questionRows(
      name,
      given(options.filter(({ isRequired }) => isRequired).map((option) => option.name)),
    );
  },
);

it("the number of models of a brand is null until its list is read and a model is held", async () => {
  await using partial = await startRig({ brands: 4, models: 1, sizes: 1 });
  await partial.sync({ depth: "brands" });
  const models = async (question: string) =>
    (await questionRows(question, {}, partial.file)).map((row) => row.models);
  expect(await models("brand-models")).toEqual([null, null, null, null]);
  expect(await models("top-brands")).toEqual([null, null, null, null]);
  await partial.sync({ depth: "models" });
  expect(await models("brand-models")).toEqual([1, 0, 0, 0]);
  expect((await models("top-brands")).sort()).toEqual([0, 0, 0, 1]);
});

it("the numbers of models and sizes of a sizing system are null until one is held", async () => {
  await using partial = await startRig({ brands: 1, models: 1, sizes: 2 });
  const counts = async () =>
    (await questionRows("sizing-systems", {}, partial.file)).map(({ models, sizes }) => ({ models, sizes }));
  await partial.sync({ depth: "brands" });
  expect(await counts()).toEqual([{ models: null, sizes: null }]);
  await partial.sync({ depth: "models" });
  expect(await counts()).toEqual([{ models: 1, sizes: null }]);
  await partial.sync();
  expect(await counts()).toEqual([{ models: 1, sizes: 2 }]);
});

it("every answer is a table on a terminal of 80 columns, also with a long name and key", async () => {
  const [name, slug] = ["A brand with a name as long as this one", `brand-${"long-".repeat(6)}slug`];
  const file = alteredMirror("long", `update _brand set name = '${name}', slug = '${slug}' where id % 7 = 0`);
  for (const { name, options } of questionsOfCatalogues) {
    const required = options.filter(({ isRequired }) => isRequired).map((option) => option.name);
    const given = Object.fromEntries(required.map((option) => [option, someOptions()[option] ?? ""]));
    const { columns, rows: all } = await runQuestionHere({ file, question: name, options: given });
    const rows = await collectRows(all);
    const lines = [...fittedLines(columns, rows, 80)];
    expect({ name, first: lines[0] }).toEqual({ name, first: expect.not.stringMatching(/^─/) });
    expect({ name, wide: lines.filter((line) => displayWidth(line) > 80) }).toEqual({ name, wide: [] });
    const keys = rows.map((row) => String(row[columns.indexOf("key")] ?? ""));
    expect(keys.filter((key) => !lines.some((line) => line.endsWith(key)))).toEqual([]);
  }
});

it("every question gives the result computed from the sandbox's catalogue", async () => {
  const cases = questionCases(catalogueOf(rig.sandbox));
  expect(cases.filter(({ answer: compute }) => compute.length === 0)).toEqual([]);
  for (const { question, options, answer: compute } of cases)
    expect({ question, options, answer: await questionRows(question, options) }).toEqual({
      question,
      options,
      answer: compute,
    });
});

it("each key in an answer finds the resource of its row", async () => {
  const kindOf = (question: string, row: Readonly<Record<string, unknown>>) =>
    row.kind ??
    (/brand|size-range/.test(question) ? "brand" : question === "models-in-size" ? "size" : "model");
  let found = 0;
  for (const { name, options } of questionsOfCatalogues) {
    const some = someOptions();
    const given = options.filter(({ isRequired }) => isRequired).map((option) => option.name);
    const rows = await questionRows(
      name,
      Object.fromEntries(given.map((option) => [option, some[option] ?? ""])),
    );
    rig.read((mirror) => {
      for (const row of rows.filter(({ key }) => key !== undefined && key !== null)) {
        const { href } = findResource(mirror, kindOf(name, row) as ShownKind, String(row.key));
        expect({ name, key: row.key, href }).toEqual({ name, key: row.key, href: row.href });
        found++;
      }
    });
  }
  expect(found).toBeGreaterThan(100);
});

it("an answer with keys names no table of the other area, and no coverage of kinds that it does not show", async () => {
  for (const question of ["changed", "newest", "top-brands", "discontinued"]) {
    const { emptyTables, rows } = await runQuestionHere({ file: rig.file, question });
    await collectRows(rows);
    expect({ question, names: emptyTables.names }).toEqual({ question, names: [] });
  }
  await using partial = await startRig({ brands: 3, models: 6, sizes: 20, pageSize: 5 });
  await partial.sync({ depth: "models" });
  const { coverage, rows } = await runQuestionHere({ file: partial.file, question: "discontinued" });
  await collectRows(rows);
  expect(coverage.mirror?.kinds.map(({ kind }) => kind)).not.toContain("size");
});

it("@newest, @changed and @gone give what the sandbox added, changed and removed since a run", async () => {
  for (const kind of ["brand", "model", "size"]) {
    for (const [question, urls] of Object.entries(changesOf(kind))) {
      const compute = await questionRows(question, { kind, since: secondRun - 1, limit: 1000 });
      expect({ kind, question, urls: compute.map(({ href }) => href).sort() }).toEqual({
        kind,
        question,
        urls,
      });
    }
  }
  for (const urls of Object.values(changesOf("model"))) expect(urls.length).toBeGreaterThan(0);
});

it("@counts-by-run counts what each run added and lost, and what was held after it", async () => {
  const returned = alteredMirror(
    "returned",
    `insert into _resource_past (id, kind, owner_id, state, gone_run, to_run)
       select id, kind, owner_id, 'gone', ${secondRun - 1}, ${secondRun} from _resource where id = (${heldModel("min")})`,
  );
  for (const file of [rig.file, returned])
    for (const kind of ["brand", "model", "size"]) {
      const heldAt = (run: number) =>
        readMirror(
          file,
          ({ db }) => db.prepare<[], number>(`select count(*) from ${kind}_current`).pluck().get() ?? 0,
          { kind: "run", run },
        );
      const [first, second] = [heldAt(1), heldAt(secondRun)];
      const back = file === returned && kind === "model" ? 1 : 0;
      const { newest, gone } = changesOf(kind);
      expect(await questionRows("counts-by-run", { kind }, file)).toMatchObject([
        { run: secondRun, kind, added: newest.length, gone: gone.length, returned: back, held: second },
        { run: 1, kind, added: first, gone: 0, returned: 0, held: first },
      ]);
      const { rows } = await runQuestionHere({
        ...{ file, question: "counts-by-run", options: { kind } },
        asOf: { kind: "run", run: 1 },
      });
      expect((await collectRows(rows)).map((row) => row.at(-1))).toEqual([first]);
    }
});

it("@growing-brands gives the brands with new models since a run, without brands first listed since", async () => {
  const { brands, models } = catalogueOf(rig.sandbox);
  const added = changesOf("model").newest;
  const grown = brands.flatMap(({ href }) => {
    const own = models.filter(({ brand }) => brand.href === href);
    const newModels = own.filter((model) => added.includes(model.href)).length;
    return before.has(href) && newModels > 0 ? [{ href, new_models: newModels, models: own.length }] : [];
  });
  const compute = await questionRows("growing-brands", { since: secondRun - 1 });
  expect(grown.length).toBeGreaterThan(0);
  expect(compute).toEqual(
    inOrder(grown, (row) => [-row.new_models, row.href]).map((row) => expect.objectContaining(row)),
  );
  expect(await questionRows("growing-brands", { since: "2000-01-01" })).toEqual([]);
});

it("@growing-brands has brands whose list was read while it was empty", async () => {
  await using small = await startRig({ brands: 3, models: 1, sizes: 1 });
  await small.sync();
  const known = catalogueOf(small.sandbox);
  small.sandbox.moveClock({ advanceSeconds: 86_400 });
  small.sandbox.advance({ additions: 12, changes: 0, removals: 0 });
  await small.sync({ mode: "verify" });
  const { models } = catalogueOf(small.sandbox);
  const grown = known.brands.flatMap(({ href }) => {
    const isNew = ({ href: model }: { href: string }) => known.models.every((one) => one.href !== model);
    const count = models.filter((model) => model.brand.href === href && isNew(model)).length;
    return count === 0 ? [] : [[href, count]];
  });
  expect(grown.length).toBeGreaterThan(1);
  const rows = await questionRows("growing-brands", { since: 1 }, small.file);
  expect(rows.map(({ href, new_models }) => [href, new_models]).sort()).toEqual(grown.sort());
});

it("@growing-brands counts models listed after the first complete reading, not its later pages", async () => {
  await using slow = await startRig({ brands: 2, models: 24, sizes: 24, pageSize: 4 });
  let runs = 0;
  for (let isComplete = false; !isComplete; runs++) {
    isComplete = (await slow.sync({ depth: "models", budget: 10, order: "breadth" })).complete;
    slow.sandbox.moveClock({ advanceSeconds: 86_400 });
  }
  const listed = catalogueOf(slow.sandbox);
  const [known, brands] = [listed.models, listed.brands].map((all) => new Set(all.map(({ href }) => href)));
  slow.sandbox.advance({ additions: 8, changes: 0, removals: 0 });
  await slow.sync({ depth: "models", mode: "verify" });
  const added = catalogueOf(slow.sandbox).models.filter(
    ({ href, brand }) => !known?.has(href) && brands?.has(brand.href),
  );
  const growthSince = async (since: number) =>
    (await questionRows("growing-brands", { since }, slow.file)).map(({ href, new_models }) => [
      href,
      new_models,
    ]);
  const grown = Map.groupBy(added, ({ brand }) => brand.href);
  const expected = [...grown].map(([href, models]) => [href, models.length]);
  const results = [];
  for (let run = 1; run <= runs; run++) results.push(await growthSince(run));
  expect(expected.length).toBeGreaterThan(0);
  expect(results.at(-1)).toEqual(expect.arrayContaining(expected));
  // Models were added only before the last run.
  for (const result of results) expect(expected).toEqual(expect.arrayContaining(result));
});

it("@models-without-sizes and @brand-coverage show what an incomplete mirror lacks", async () => {
  await using partial = await startRig({ brands: 6, models: 20, sizes: 60, pageSize: 5 });
  await partial.sync({ depth: "brands" });
  for (const row of await questionRows("brand-coverage", {}, partial.file))
    expect(row).toMatchObject({ models_known: null, models_held: 0, sizes_known: null, sizes_held: 0 });
  await partial.sync({ depth: "models" });
  const { brands, models } = catalogueOf(partial.sandbox);
  const withoutSizes = await questionRows("models-without-sizes", {}, partial.file);
  expect(withoutSizes.map(({ href }) => href).sort()).toEqual(models.map(({ href }) => href).sort());
  await partial.sync({ brands: [String(models[0]?.brand.fields.name)] });
  const coverage = await questionRows("brand-coverage", {}, partial.file);
  const { sizes } = catalogueOf(partial.sandbox);
  const isRead = (href: unknown) =>
    models[0]?.brand.href === href || models.every(({ brand }) => brand.href !== href);
  const countOf = (href: unknown) => ({
    models: models.filter(({ brand }) => brand.href === href).length,
    sizes: isRead(href) ? sizes.filter(({ model }) => model.brand.href === href).length : null,
  });
  expect(coverage.map(({ href }) => href).sort()).toEqual(brands.map(({ href }) => href).sort());
  for (const row of coverage) {
    const { models: modelCount, sizes: sizeCount } = countOf(row.href);
    expect(row).toMatchObject({
      ...{ state: "held", models_known: modelCount, models_held: modelCount },
      ...{ sizes_known: sizeCount, sizes_held: sizeCount ?? 0 },
    });
  }
});

it("an unknown count is sorted last, and one beyond 64 bits first", async () => {
  const file = alteredMirror(
    "odd",
    `update _model set bra_count = null, type = null, is_discontinued = null, last_modified_at = null where id = (${heldModel("min")})`,
    `update _model set bra_count = '99999999999999999999' where id = (${heldModel("max")})`,
    `update _model set bra_count = '500000000000000000000' where id = (${heldModel("max")} and id < (${heldModel("max")}))`,
    "update _size set bra_count = '99999999999999999999', band = null, cup = null, alternative_sizes = '[1, {}]' where id = (select max(id) from _size)",
    "update _size set bra_count = null, alternative_sizes = null where id = (select min(id) from _size)",
  );
  const counts = (await questionRows("top-models", { limit: 1000 }, file)).map(
    ({ bra_count: count }) => count,
  );
  expect(counts.slice(0, 2)).toEqual(["500000000000000000000", "99999999999999999999"]);
  expect(counts.at(-1)).toBe(null);
  for (const { name, options } of questionsOfCatalogues) {
    const some = someOptions();
    await questionRows(
      name,
      Object.fromEntries(options.map((option) => [option.name, some[option.name] ?? ""])),
      file,
    );
  }
  expect((await questionRows("model-types", {}, file)).map(({ type }) => type)).toContain(null);
});

it("a question reads the public views of this version, whatever the file's say", async () => {
  const file = alteredMirror(
    "old",
    "drop view known",
    "create view known as select url as href, kind from _resource",
    "drop view brand_current",
    "create view brand_current as select 'FORGED' as href, 'FORGED' as name",
  );
  for (const question of ["brand-coverage", "top-brands"])
    expect(await questionRows(question, {}, file)).toEqual(await questionRows(question));
});
