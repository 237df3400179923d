/** Questions and statements as pages and as rows: the answers of `armoire query`, within its limits. */
import { request } from "node:http";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { readCsvRows } from "../../exports/formats/csv.ts";
import { areasOf } from "../../src/query/questions/question.ts";
import { listQuestions } from "../../src/query/questions/questions.ts";
import { runQuestion } from "../../src/query/questions/run-question.ts";
import { defaultLimits } from "../../src/query/sql/limits.ts";
import { startQueryProcess } from "../../src/query/sql/query-process.ts";
import { type QueryResult, runQuery } from "../../src/query/sql/run-query.ts";
import { createAnswers, createStatementSlots } from "../../src/web/queries/answers.ts";
import { createKeptAnswers } from "../../src/web/queries/kept-answers.ts";
import { createSpareProcess } from "../../src/web/queries/spare-process.ts";
import { linksIn, startWebRig, type WebRig } from "./support/web-rig.ts";

let web: WebRig;
beforeAll(async () => {
  web = await startWebRig();
});
afterAll(() => web[Symbol.asyncDispose]());

const sqlPath = (sql: string, ending = "") => `/sql${ending}?q=${encodeURIComponent(sql)}`;

async function rowsOf(path: string): Promise<unknown[][]> {
  const { body } = await web.get(path);
  return JSON.parse(body).map((row: object) => Object.values(row));
}

const endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

const required: Readonly<Record<string, string>> = {
  since: "-30d",
  size: "75B",
  system: "EU",
  brand: "Corasil",
};

it("each question has a page with its answer", async () => {
  const links = linksIn((await web.get("/questions")).body);
  const questions = listQuestions().filter((question) => areasOf(question).includes("catalogue"));
  expect(questions.length).toBeGreaterThan(15);
  let answered = 0;
  for (const { name, options } of questions) {
    const path = `/questions/${name}`;
    expect(links).toContain(path);
    const given = options.filter((one) => one.isRequired).map((one) => [one.name, required[one.name] ?? ""]);
    const query = new URLSearchParams(Object.fromEntries(given));
    const { status, body } = await web.get(`${path}?${query}`);
    expect([path, status, body.includes('class="answer"')]).toEqual([path, 200, true]);
    answered += body.includes("<tbody>") ? 1 : 0;
  }
  expect(answered).toBeGreaterThan(12);
});

it("models by band and cup are a map: each count in its place, the more the darker", async () => {
  const path = "/questions/size-coverage";
  const { body } = await web.get(`${path}?system=EU`);
  const cells = [...body.matchAll(/<td(?: class="h(\d)")?>(\d*)<\/td>/g)].slice(1);
  const rows = await rowsOf(`${path}.json?system=EU`);
  const counts = rows.flatMap(([, ...models]) => models.map((count) => Number(count ?? 0)));
  expect(cells.map(([, , count]) => Number(count))).toEqual(counts);
  const shades = cells.flatMap(([, shade, count]) =>
    shade ? [[Number(count), Number(shade)] as const] : [],
  );
  const sorted = shades.toSorted(([a], [b]) => a - b).map(([, shade]) => shade);
  expect(sorted).toEqual(sorted.toSorted((a, b) => a - b));
  expect(sorted[0]).toBeLessThan(sorted.at(-1) ?? 0);
});

it.each(["top-brands?limit=3", "size-coverage?system=EU", "newest?since=-400d&kind=model"])(
  "the rows of the question %s are those of `query`",
  async (question) => {
    const [name = "", query = ""] = question.split("?");
    const options = Object.fromEntries(new URLSearchParams(query));
    const result = await runQuestion({ file: web.rig.file, question: name, options });
    const expected: unknown[] = [];
    for await (const row of result.rows) expected.push([...row]);
    expect(expected.length).toBeGreaterThan(2);
    expect(await rowsOf(`/questions/${name}.json?${query}`)).toEqual(expected);
  },
);

it("a question without its options is a form, and one with wrong ones says what is wrong", async () => {
  const form = await web.get("/questions/size-coverage");
  expect([form.status, form.body.includes("required")]).toEqual([200, true]);
  expect(form.body).not.toContain('class="answer"');
  // The choices are the systems of the mirror.
  const chosen = await web.get("/questions/size-coverage?system=uk");
  expect(chosen.body).toMatch(
    /<select [^>]*name="system"[\s\S]*<option value="EU">EU<\/option>[\s\S]*<option value="UK" selected>UK/,
  );
  expect([chosen.status, chosen.body.includes('class="answer"')]).toEqual([200, true]);
  const wrong = await web.get("/questions/size-coverage?system=XX");
  expect(wrong.status).toBe(400);
  expect(wrong.body).toMatch(/has a label in the sizing system[\s\S]*There are [A-Z]/);
  expect(wrong.body).toContain('<option value="XX" selected>XX</option>');
  const unknown = await web.get("/questions/top-brand");
  expect([unknown.status, linksIn(unknown.body)]).toEqual([
    404,
    expect.arrayContaining(["/questions/top-brands"]),
  ]);
});

it("a question with names and numbers has a chart, with its numbers as a table", async () => {
  const { body } = await web.get("/questions/top-brands?limit=5");
  const [figure = ""] = body.match(/<figure class="chart">[\s\S]*<\/figure>/) ?? [];
  expect(figure).toContain("<svg");
  expect(figure.match(/<th scope="row">/g)).toHaveLength(5);
  // In the answer itself, a name leads to its brand.
  expect(body.match(/<th scope="row"><a href="\/brand\/[^"]+"><bdi>/g)).toHaveLength(5);
  expect((await web.get("/questions/size-coverage?system=EU")).body).not.toContain("<figure");
});

it("a statement has the same rows in each format", async () => {
  const sql = "select name, name, bra_count, null as missing from brand order by href";
  const expected = web.rig.read(({ db }) => db.prepare(sql).raw().all()) as unknown[][];
  expect(expected.length).toBeGreaterThan(3);
  expect(await rowsOf(sqlPath(sql, ".json"))).toEqual(expected);
  const ndjson = (await web.get(sqlPath(sql, ".ndjson"))).body.trimEnd().split("\n");
  expect(ndjson.map((line) => Object.keys(JSON.parse(line)))[0]).toEqual([
    ...["name", "name_2", "bra_count", "missing"],
  ]);
  const csv = (await web.get(sqlPath(sql, ".csv"))).body.trimEnd().split("\n");
  expect(csv[0]).toBe("name,name,bra_count,missing");
  expect([...readCsvRows(csv, "guarded")].map(([name]) => name)).toEqual(expected.map(([name]) => name));
  const { body } = await web.get(sqlPath(sql));
  expect(body).toContain(`${expected.length} rows`);
});

it("a page shows at most 100 rows and says how many there are; a download has them all", async () => {
  const sql = "with recursive n(i) as (select 1 union all select i + 1 from n limit 1234) select i from n";
  const { body } = await web.get(sqlPath(sql));
  expect(body).toContain("The first 100 of 1234 rows: a download has all");
  expect(body.match(/<th scope="row"/g)).toHaveLength(100);
  expect(await rowsOf(sqlPath(sql, ".json"))).toHaveLength(1234);
});

it("a page of many wide rows stays small", async () => {
  const sql = "select *, name || printf('%.5000c', 'x') as long from model";
  const { status, body } = await web.get(sqlPath(sql));
  expect([status, body.length < 60_000]).toEqual([200, true]);
});

it.each([
  ["select nam from brand", 400, "Did you mean name"],
  ["select * from brnd", 400, "Did you mean brand"],
  ["delete from brand", 400, "Only statements that read"],
  ["drop table _brand", 400, "Only statements that read"],
  ["attach '/tmp/x' as x", 400, "Only statements that read"],
  ["select 1; select 2", 400, "Give one statement at a time."],
  ["select", 400, "SQLite rejects the statement"],
  ["select ?", 400, "Write each parameter as :NAME"],
  ["select abs(-9223372036854775808)", 422, "overflow"],
] as const)("%s has the status %i and says why, beside the statement", async (sql, status, text) => {
  const { body, ...reply } = await web.get(sqlPath(sql));
  expect([reply.status, body.includes(text)]).toEqual([status, true]);
  expect(body).toContain("<textarea");
  const json = await web.get(sqlPath(sql, ".json"));
  if (status === 400)
    expect([json.status, JSON.parse(json.body).error.message]).toEqual([400, expect.any(String)]);
});

it("an unknown table or column leads to the page of the tables", async () => {
  expect(linksIn((await web.get(sqlPath("select nam from brand"))).body)).toContain("/tables/brand");
  expect(linksIn((await web.get(sqlPath("select * from brnd"))).body)).toContain("/tables");
});

it("an earlier point answers from the mirror as it was", async () => {
  const sql = "select count(*) from model";
  const [[now] = [], [then] = []] = [
    await rowsOf(sqlPath(sql, ".json")),
    await rowsOf(`${sqlPath(sql, ".json")}&as-of=1`),
  ].map(([row]) => row);
  expect(Number(then)).toBeLessThan(Number(now));
  expect((await web.get(`${sqlPath(sql)}&as-of=1`)).body).toMatch(
    new RegExp(`<th scope="row"[^>]*>${then}</th>`),
  );
});

it("a link of another site shows a statement and does not run it", async () => {
  const headers = { "sec-fetch-site": "cross-site" };
  const { status, body } = await web.get(sqlPath("select 6 * 7"), { headers });
  expect([status, body.includes("select 6 * 7"), body.includes(">42<")]).toEqual([200, true, false]);
  expect(body).toContain("nothing was run");
  expect((await web.get(sqlPath("select 6 * 7", ".json"), { headers })).status).toBe(403);
  expect((await web.get("/questions/top-brands.csv", { headers })).status).toBe(403);
  expect((await web.get("/questions/top-brands", { headers })).body).not.toContain("kiramode");
  const own = { headers: { "sec-fetch-site": "same-origin" } };
  expect((await web.get(sqlPath("select 6 * 7"), own)).body).toContain(">42<");
});

it("the parameters of a statement have fields, and their values are those of `query -p`", async () => {
  const sql = "select ':a', typeof(:text), typeof(:number), :text -- :b";
  const asked = await web.get(sqlPath(sql));
  expect([asked.status, asked.body.includes('class="answer"')]).toEqual([200, false]);
  expect([...asked.body.matchAll(/ name="p\.(\w+)"/g)].map(([, name]) => name)).toEqual(["text", "number"]);
  expect((await web.get(sqlPath(sql, ".json"))).status).toBe(400);
  const given = `&p.text=${encodeURIComponent("<b>'; drop")}&p.number=7`;
  expect(await rowsOf(`${sqlPath(sql, ".json")}${given}`)).toEqual([[":a", "text", "integer", "<b>'; drop"]]);
  const { body } = await web.get(sqlPath(sql) + given);
  expect(body).toContain('value="&lt;b&gt;&#39;; drop"');
  expect(body).toContain('class="answer"');
});

it("an answer is kept until the mirror changes, and a process waits for the next one", async () => {
  let [now, asked] = [0, 0];
  const kept = createKeptAnswers(() => now);
  const ask = async () => ({ rows: [[++asked]], result: {} as QueryResult });
  const find = async (version: string, isWritten = false) =>
    (await kept.find("key", { version, isWritten }, ask)).rows;
  expect([await find("1"), await find("1"), await find("2")]).toEqual([[[1]], [[1]], [[1]]]);
  now = 6000;
  expect([await find("1"), await find("2")]).toEqual([[[1]], [[2]]]);
  now += 61_000;
  expect(await find("2")).toEqual([[3]]);
  // While a sync writes, the last one is shown, and the next one asked for.
  now += 6000;
  expect(await find("3", true)).toEqual([[3]]);
  await expect.poll(() => find("3", true)).toEqual([[4]]);
  now += 200_000;
  expect(await find("4", true)).toEqual([[5]]);
  const spare = createSpareProcess();
  spare.prepare();
  for (let n = 0; n < 2; n++) {
    const child = spare.start(defaultLimits);
    const start = {
      type: "start",
      file: web.rig.file,
      catalogue: null,
      shownViews: [],
      parameters: [],
    } as const;
    const response = await child.request({ ...start, sql: "select 1", maxRows: 1, limits: defaultLimits });
    expect(response).toMatchObject({ type: "columns", columns: ["1"] });
    await child.stop();
  }
  spare.prepare();
  spare.close();
});

it("values are text, whatever they are", async () => {
  const { body } = await web.get(
    sqlPath("select '<script>alert(1)</script>' as \"<b>\", 'javascript:alert(1)' as href"),
  );
  expect(body).not.toMatch(/<script>alert|<b>|href="javascript/);
  expect(body).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
});

it("a statement ends when its browser goes away, and gives its place back", async () => {
  const slots = createStatementSlots(1);
  const gone = new AbortController();
  const spare = { start: startQueryProcess, prepare: () => {} };
  const answers = createAnswers(slots, spare, gone.signal);
  const ask = (sql: string) => (options: object) => runQuery({ ...options, file: web.rig.file, sql });
  const first = answers.readFirst(ask(endless), 10);
  await expect(answers.readFirst(ask("select 1"), 10)).rejects.toThrow("statements are running");
  gone.abort(new Error("gone"));
  await expect(first).rejects.toThrow("gone");
  const others = createAnswers(slots, spare, new AbortController().signal);
  const { rows } = await others.readFirst(ask("select 1"), 10);
  expect(rows).toEqual([[1]]);
  const open = await others.open(ask("select 1"));
  await expect(others.open(ask("select 1"))).rejects.toThrow("statements are running");
  open.close();
  open.close();
  expect((await others.readFirst(ask("select 2"), 10)).rows).toEqual([[2]]);
});

it("at most 4 statements run at a time, and the next one is refused with the time to wait", async () => {
  const { port } = new URL(web.server.url);
  const running = [1, 2, 3, 4].map((n) => {
    const sent = request({ host: "127.0.0.1", port, path: sqlPath(`${endless} -- ${n}`), agent: false });
    sent.on("error", () => {});
    return sent.end();
  });
  const patience = { timeout: 80_000 };
  const next = async (ending = ".json") => await web.get(sqlPath("select 1", ending));
  const { headers } = await vi.waitUntil(async () => {
    const reply = await next();
    return reply.status === 503 && reply;
  }, patience);
  expect(headers["retry-after"]).toBe("5");
  const page = await next("");
  expect([page.status, page.headers["retry-after"]]).toEqual([503, "5"]);
  for (const sent of running) sent.destroy();
  await vi.waitUntil(async () => (await next()).status === 200, patience);
});
