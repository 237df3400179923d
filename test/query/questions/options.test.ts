/** What a question can be given, and what it says to anything else. */
import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findQuestion, listQuestions } from "../../../src/query/questions/questions.ts";
import { type QuestionOptions, runQuestion } from "../../../src/query/questions/run-question.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { catalogueOf } from "../support/catalogue.ts";
import { collectRows } from "../support/collect-rows.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 6, models: 20, sizes: 40 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

async function ask(question: string, options: QuestionOptions, file = rig.file) {
  return await collectRows((await runQuestion({ file, question, options })).rows);
}

describe("a brand", () => {
  it("is meant by its URL, its name in any case, and its slug", async () => {
    for (const { href, fields } of catalogueOf(rig.sandbox).brands) {
      for (const wanted of [href, String(fields.name).toUpperCase(), String(fields.slug)]) {
        const [[name, , , , , found] = []] = await ask("brand-models", { brand: wanted });
        expect({ wanted, name, found }).toEqual({ wanted, name: fields.name, found: href });
      }
    }
  });

  it("that is gone is meant too, and one that shares its name", async () => {
    const file = join(dirname(rig.file), "gone.sqlite");
    copyFileSync(rig.file, file);
    const [one, other] = catalogueOf(rig.sandbox).brands;
    const db = new Database(file);
    const gone = "update _resource set state = 'gone', gone_run = 1 where url = ?";
    db.prepare(
      "update _member set name = 'The Same' where item_id in (select id from _resource where url in (?, ?))",
    ).run(one?.href, other?.href);
    expect((await ask("brand-models", { brand: "the same" }, file)).map((row) => row.at(-1)).sort()).toEqual(
      [one?.href, other?.href].sort(),
    );
    db.prepare(gone).run(one?.href);
    db.close();
    expect((await ask("brand-models", { brand: "the same" }, file)).map((row) => row.at(-1))).toEqual([
      other?.href,
    ]);
    expect(await ask("brand-models", { brand: String(one?.href) }, file)).toEqual([]);
  });
});

describe("a question says what is wrong in one line", () => {
  it.each<[string, QuestionOptions, RegExp, RegExp]>([
    ["brand-sizes", {}, /^@brand-sizes needs --brand: /, /^It takes --brand\.$/],
    ["bands", { since: "2026" }, /^@bands takes no --since$/, /\[--brand\] \[--system\]/],
    ["sizing-systems", { brand: "x" }, /^@sizing-systems takes no --brand$/, /no options/],
    ["bands", { brand: "nobody" }, /no brand called "nobody"/, /armoire query/],
    ["top-brands", { limit: "many" }, /^--limit cannot be "many"$/, /whole number/],
    ["top-brands", { limit: 0 }, /^--limit cannot be "0"$/, /at least 1/],
    ["newest", { kind: "bras" }, /^--kind cannot be "bras"$/, /brand, model, size/],
    ["top-brnds", {}, /^There is no question called @top-brnds$/, /@top-brands or @top-models/],
    ["zzz", {}, /no question called @zzz/, /armoire query --list/],
  ])("@%s %j", async (question, options, message, hint) => {
    await expect(ask(question, options)).rejects.toMatchObject({
      ...{ name: "QueryError", code: "question" },
      ...{ message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    });
  });

  it.each([
    ["yesterday", "syntax", /2026-11-03/],
    ["7", "no-such-run", /from run 1 /],
  ])("and of %j that it is no point, as everywhere", async (since, code, hint) => {
    const refused = { name: "PointError", code, hint: expect.stringMatching(hint) };
    await expect(ask("newest", { since })).rejects.toMatchObject(refused);
  });

  it("with the brands that look like the one that is not there", async () => {
    const name = String(catalogueOf(rig.sandbox).brands[0]?.fields.name);
    await expect(ask("bands", { brand: `${name.slice(0, 4)}zzz` })).rejects.toMatchObject({
      hint: expect.stringContaining(JSON.stringify(name)),
    });
  });
});

it.each([
  [{ limit: 6 }, undefined, { maxRows: 6, isCut: false, rows: 6 }],
  [{ limit: 5 }, undefined, { maxRows: 5, isCut: true, rows: 5 }],
  [{}, undefined, { maxRows: 20, isCut: false, rows: 6 }],
  [{ limit: 5 }, 3, { maxRows: 3, isCut: true, rows: 3 }],
])(
  "a limit %j of 6 brands, and %j rows at most, say whether they cut something",
  async (options, most, cut) => {
    const terms = most === undefined ? {} : { maxRows: most };
    const result = await runQuestion({ file: rig.file, question: "top-brands", options, ...terms });
    const rows = (await collectRows(result.rows)).length;
    expect({ maxRows: result.maxRows, isCut: result.isCut, rows }).toEqual(cut);
  },
);

it("questions have names and options of their own, and each option means one thing", () => {
  const names = listQuestions().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
  expect(names.map((name) => findQuestion(name).name)).toEqual(names);
  const abouts = Map.groupBy(
    listQuestions().flatMap(({ options }) => options),
    ({ name }) => name,
  );
  for (const options of abouts.values()) expect(new Set(options.map(({ about }) => about)).size).toBe(1);
});
