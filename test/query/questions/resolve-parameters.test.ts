/** The options of questions: how they are resolved, and the errors for wrong ones. */
import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findQuestion, listQuestions } from "../../../src/query/questions/questions.ts";
import type { QuestionOptions } from "../../../src/query/questions/resolve-parameters.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { catalogueOf } from "../support/catalogue.ts";
import { collectRows } from "../support/collect-rows.ts";
import { runQuestionHere } from "../support/in-this-process.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 6, models: 20, sizes: 40 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

async function resolve(question: string, options: QuestionOptions, file = rig.file) {
  return await collectRows((await runQuestionHere({ file, question, options })).rows);
}

it("a brand is found by its URL, by its name in any case, and by its slug", async () => {
  for (const { href, fields } of catalogueOf(rig.sandbox).brands) {
    for (const brand of [href, String(fields.name).toUpperCase(), String(fields.slug)]) {
      const [[name, , , , , , found] = []] = await resolve("brand-models", { brand });
      expect({ brand, name, found }).toEqual({ brand, name: fields.name, found: href });
    }
  }
});

it("a brand's name selects all brands of that name, including tombstones", async () => {
  const file = join(dirname(rig.file), "gone.sqlite");
  copyFileSync(rig.file, file);
  const [first, second] = catalogueOf(rig.sandbox).brands.map(({ href }) => href);
  const foundBrands = async (brand: string) =>
    (await resolve("brand-models", { brand }, file)).map((row) => row.at(-1)).sort();
  const db = new Database(file);
  db.prepare(
    "update _member set name = 'The Same' where item_id in (select id from _resource where url in (?, ?))",
  ).run(first, second);
  expect(await foundBrands("the same")).toEqual([first, second].sort());
  db.prepare("update _resource set state = 'gone', gone_run = 1 where url = ?").run(first);
  db.close();
  expect(await foundBrands("the same")).toEqual([second]);
  expect(await foundBrands(String(first))).toEqual([]);
});

it.each<[string, QuestionOptions, RegExp, RegExp]>([
  ["brand-sizes", {}, /^@brand-sizes needs --brand: /, /^Its options: --brand\.$/],
  ["bands", { since: "2026" }, /^@bands has no option --since\.$/, /\[--brand\] \[--system\]/],
  ["sizing-systems", { brand: "x" }, /^@sizing-systems has no option --brand\.$/, /no options/],
  ["bands", { brand: "unknown" }, /no brand called "unknown"/, /armoire query/],
  ["top-brands", { limit: "many" }, /^The value of --limit is invalid: "many"\.$/, /whole number/],
  ["top-brands", { limit: 0 }, /^The value of --limit is invalid: "0"\.$/, /at least 1/],
  ["newest", { kind: "bras" }, /^The value of --kind is invalid: "bras"\.$/, /brand, model, size/],
  ["models-in-range", {}, /^@models-in-range needs --system: /, /--system \[--band\] \[--cup\] \[--brand\]/],
  [
    "models-in-range",
    { system: "UK", band: "30F" },
    /^The value of --band is invalid: "30F"\.$/,
    /28-30, 28- or -30/,
  ],
  ["models-in-range", { system: "UK", band: "-" }, /--band is invalid/, /28-30/],
  ["models-in-range", { system: "UK", band: "28-30-32" }, /--band is invalid/, /28-30/],
  [
    "models-in-range",
    { system: "UK", cup: "I-" },
    /--cup is invalid: "I-"\.$/,
    /DD-G or H-, of AAA .* GG H HH J/,
  ],
  [
    "models-in-range",
    { system: "GB", cup: "H-" },
    /^No size of the mirror has a label in the sizing system "GB"\.$/,
    /^There are AU, EU, .*UK/,
  ],
  [
    "models-in-range",
    { system: "UK", band: "30-28" },
    /--band is invalid: "30-28"\.$/,
    /smaller end comes first/,
  ],
  [
    "models-in-range",
    { system: "UK", cup: "H-DD" },
    /--cup is invalid: "H-DD"\.$/,
    /smaller end comes first/,
  ],
  ["top-brnds", {}, /^There is no question @top-brnds\.$/, /^Did you mean @top-brands\b/],
  ["topmodels", {}, /^There is no question @topmodels\.$/, /^Did you mean @top-models\b/],
  ["zzz", {}, /no question @zzz/, /armoire query --list/],
])("the wrong usage @%s %j is an error with a hint", async (question, options, message, hint) => {
  await expect(resolve(question, options)).rejects.toMatchObject({
    ...{ name: "QueryError", code: "question" },
    ...{ message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
  });
});

it("the ends of a range may have any dash and blanks between them", async () => {
  const rowsOf = (band: string, cup: string) => resolve("models-in-range", { system: "UK", band, cup });
  const expected = await rowsOf("28-36", "D-");
  expect(expected.length).toBeGreaterThan(1);
  for (const dash of ["\u2010", "\u2011", "\u2013", "\u2014", "\u2212", " - ", " \u2013 "])
    expect([dash, await rowsOf(`28${dash}36`, `D${dash}`)]).toEqual([dash, expected]);
});

it.each([
  ["yesterday", "syntax", /2026-11-03/],
  ["7", "no-such-run", /from run 1 /],
])("the invalid point in time %j is a PointError", async (since, code, hint) => {
  const error = { name: "PointError", code, hint: expect.stringMatching(hint) };
  await expect(resolve("newest", { since })).rejects.toMatchObject(error);
});

it("an unknown brand is an error that suggests similar names", async () => {
  const name = String(catalogueOf(rig.sandbox).brands[0]?.fields.name);
  await expect(resolve("bands", { brand: `${name.slice(0, 4)}zzz` })).rejects.toMatchObject({
    hint: expect.stringContaining(JSON.stringify(name)),
  });
});

it.each([
  [{ limit: 6 }, undefined, { maxRows: 6, isCut: false, rows: 6 }],
  [{ limit: 5 }, undefined, { maxRows: 5, isCut: true, rows: 5 }],
  [{}, undefined, { maxRows: 20, isCut: false, rows: 6 }],
  [{ limit: 5 }, 3, { maxRows: 3, isCut: true, rows: 3 }],
])(
  "the options %j of a question with 6 rows, with maxRows %j, report whether rows are cut",
  async (options, maxRows, expected) => {
    const terms = maxRows === undefined ? {} : { maxRows };
    const result = await runQuestionHere({ file: rig.file, question: "top-brands", options, ...terms });
    const rows = (await collectRows(result.rows)).length;
    expect({ maxRows: result.maxRows, isCut: result.isCut, rows }).toEqual(expected);
  },
);

it("rows beyond the limit of a question are not counted, since its SQL does not yield them", async () => {
  const options = { limit: 4 };
  const terms = { file: rig.file, question: "top-brands", options, countMillis: 60_000 };
  const limited = await runQuestionHere(terms);
  await collectRows(limited.rows);
  expect([limited.isCut, limited.total]).toEqual([true, null]);
  const cut = await runQuestionHere({ ...terms, options: {}, maxRows: 4 });
  await collectRows(cut.rows);
  expect([cut.isCut, cut.total]).toEqual([true, 6]);
});

it("rows of a matrix are limited after it is whole", async () => {
  const question = "size-coverage";
  const options = { system: "UK" };
  const whole = await runQuestionHere({ file: rig.file, question, options });
  const rows = await collectRows(whole.rows);
  const cut = await runQuestionHere({ file: rig.file, question, options, maxRows: 2 });
  expect(cut.columns).toEqual(whole.columns);
  expect(await collectRows(cut.rows)).toEqual(rows.slice(0, 2));
  expect([rows.length > 2, whole.isCut, cut.isCut]).toEqual([true, false, true]);
});

it("a label that is not a number and a cup is counted apart in a matrix", async () => {
  const file = join(dirname(rig.file), "labels.sqlite");
  copyFileSync(rig.file, file);
  const db = new Database(file);
  db.exec(`update _size set alternative_sizes = '{"XX": "S"}' where id = (select min(id) from _size)`);
  db.exec(`update _size set alternative_sizes = '{"XX": "75Q"}' where id = (select max(id) from _size)`);
  db.close();
  await expect(resolve("models-in-range", { system: "XX", cup: "H-" }, file)).rejects.toMatchObject({
    message: expect.stringContaining('The order of the cups of "XX" is unknown'),
    hint: expect.stringContaining("cup_order"),
  });
  const { columns, rows } = await runQuestionHere({
    file,
    question: "size-coverage",
    options: { system: "xx" },
  });
  expect([columns, ...(await collectRows(rows))]).toEqual([
    ["band", "Q", "other"],
    [75, 1, null],
    [null, null, 1],
  ]);
});

it("names of questions are unique, and an option has the same meaning in all questions", () => {
  const names = listQuestions().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
  expect(names.map((name) => findQuestion(name).name)).toEqual(names);
  const optionsByName = Map.groupBy(
    listQuestions().flatMap(({ options }) => options),
    // With fewer choices, its description names these.
    ({ name, choices }) => [name, ...(choices ?? [])].join(" "),
  );
  for (const options of optionsByName.values())
    expect(new Set(options.map(({ about }) => about)).size).toBe(1);
});
