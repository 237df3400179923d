/** The data dictionary as pages and rows. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeColumn } from "../../schema/dictionary/columns.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { linksIn, startWebRig, type WebRig } from "./support/web-rig.ts";

let web: WebRig;
beforeAll(async () => {
  web = await startWebRig();
});
afterAll(() => web[Symbol.asyncDispose]());

const jsonAt = async (path: string) => JSON.parse((await web.get(path)).body);

it("the tables are those that `armoire tables` lists for a catalogue, with their rows", async () => {
  const { stdout } = await callArmoire(["tables", "--json"]);
  const known = new Map(JSON.parse(stdout).map((one: { table: string }) => [one.table, one]));
  const listed = await jsonAt("/tables.json");
  expect(listed.length).toBeGreaterThan(12);
  expect(listed.map(({ table }: { table: string }) => known.has(table))).not.toContain(false);
  expect(listed.map(({ table }: { table: string }) => table)).not.toContain("bra");
  for (const table of ["brand", "model_current", "size"]) {
    const rows = web.rig.read(({ db }) => db.prepare(`select count(*) from ${table}`).pluck().get());
    expect(listed).toContainEqual(expect.objectContaining({ table, rows }));
  }
  const links = linksIn((await web.get("/tables")).body);
  for (const { table } of listed) expect(links).toContain(`/tables/${table}`);
});

it("each table has a page with all its columns, whose rows are one link away", async () => {
  for (const { table } of await jsonAt("/tables.json")) {
    const { stdout } = await callArmoire(["tables", table, "--json"]);
    const expected = JSON.parse(stdout);
    expect(await jsonAt(`/tables/${table}.json`)).toEqual(expected);
    const { status, body } = await web.get(`/tables/${table}`);
    expect([table, status]).toEqual([table, 200]);
    for (const { name } of expected.columns) expect(body).toContain(`<span class="code">${name}</span>`);
    expect(linksIn(body)).toContain(`/sql?q=select+*+from+${table}+limit+1000`);
  }
  expect((await web.get("/tables/model")).body).toContain(describeColumn("model", "slug")?.about);
  expect(linksIn((await web.get("/tables/size")).body)).toContain("/tables/model");
});

it("an earlier point has the rows of then", async () => {
  const rowsOf = async (query: string) =>
    (await jsonAt(`/tables.json${query}`)).find(({ table }: { table: string }) => table === "model").rows;
  expect(await rowsOf("?as-of=1")).toBeLessThan(await rowsOf(""));
});

it.each(["/tables/modl", "/tables/_resource", "/tables/toString"])("%s is not found", async (path) => {
  const { status } = await web.get(path);
  expect([status, (await web.get(`${path}.json`)).status]).toEqual([404, 404]);
  if (path === "/tables/modl") expect(linksIn((await web.get(path)).body)).toContain("/tables/model");
});
