/** Any two points compared as a page and as rows, with filters. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FilterInput } from "../../src/change/filter.ts";
import { rowsOf } from "../../src/change/log/change-rows.ts";
import { openDiff } from "../../src/change/open-diff.ts";
import { linksIn, startWebRig, type WebRig } from "./support/web-rig.ts";

let web: WebRig;
beforeAll(async () => {
  web = await startWebRig();
  web.rig.sandbox.moveClock({ advanceSeconds: 86_400 });
  web.rig.sandbox.advance({ changes: 8 });
  await web.rig.sync({ mode: "verify" });
});
afterAll(() => web[Symbol.asyncDispose]());

async function rowsBetween(from: number, to: number, filter: FilterInput = {}) {
  const at = (run: number) => ({ kind: "run", run }) as const;
  const opened = await openDiff({ mirror: web.rig.file, from: at(from), to: at(to), ...filter });
  const rows = [...opened.changes].flatMap((change) => rowsOf(change));
  opened.close();
  return rows.map(([, , href, , , , change, field]) => [href, change, field]);
}

async function rowsAt(query: string): Promise<unknown[][]> {
  const { body } = await web.get(`/compare.json${query}`);
  return JSON.parse(body).map((row: Record<string, unknown>) => [row.href, row.change, row.field]);
}

const someBrand = () =>
  web.rig.read(({ db }) => db.prepare("select name from brand_current limit 1").pluck().get()) as string;

it("the rows are those of the diff between the two points, in either direction", async () => {
  for (const [from, to] of [
    [1, 3],
    [2, 3],
    [3, 1],
  ] as const) {
    const expected = await rowsBetween(from, to);
    expect(expected.length).toBeGreaterThan(5);
    expect(await rowsAt(`?from=${from}&to=${to}`)).toEqual(expected);
  }
  expect(await rowsAt("")).toEqual(await rowsBetween(2, 3));
  expect(await rowsAt("?from=latest-2&to=latest")).toEqual(await rowsBetween(1, 3));
});

it("the filters are those of `diff`, and may be repeated", async () => {
  const brand = someBrand();
  const cases: readonly (readonly [string, FilterInput])[] = [
    ["kind=size", { kinds: ["size"] }],
    ["kind=size&kind=model&brand=&field=", { kinds: ["size", "model"] }],
    [`brand=${encodeURIComponent(brand)}`, { brands: [brand] }],
    ["field=bra_count", { fields: ["bra_count"] }],
    ["ignore=bra_count&ignore=last_modified_at", { ignored: ["bra_count", "last_modified_at"] }],
  ];
  const all = await rowsBetween(1, 3);
  for (const [query, filter] of cases) {
    const expected = await rowsBetween(1, 3, filter);
    expect([query, expected.length < all.length]).toEqual([query, true]);
    expect(await rowsAt(`?from=1&to=3&${query}`)).toEqual(expected);
    const { body } = await web.get(`/compare?from=1&to=3&${query}`);
    const fields = expected.filter(([, change]) => change !== "added" && change !== "removed");
    if (expected.length === fields.length && fields.length <= 50)
      expect(body.match(/<del>/g) ?? []).toHaveLength(fields.length);
  }
});

it("the page keeps what the form was given, and leads to the same rows", async () => {
  const { body } = await web.get("/compare?from=1&to=3&kind=model&brand=&ignore=bra_count");
  expect(body).toMatch(/name="from" value="1"/);
  expect(body).toMatch(/name="kind" value="model"\s+checked/);
  expect(body).not.toMatch(/name="kind" value="size"\s+checked/);
  expect(body).toMatch(/name="ignore" value="bra_count"/);
  expect(body).toContain("From run 1, which ended");
  expect(linksIn(body)).toContain("/compare.csv?from=1&to=3&kind=model&brand=&ignore=bra_count");
});

it("a later page of a comparison has the rest, and leads back with the filters", async () => {
  const { body } = await web.get("/compare?from=1&to=3&kind=size&kind=model&after=2");
  expect(body).toMatch(/These are changes 3 to \d+, brands first\./);
  expect(linksIn(body)).toEqual(
    expect.arrayContaining([
      "/compare?from=1&to=3&kind=size&kind=model",
      "/compare.csv?from=1&to=3&kind=size&kind=model",
    ]),
  );
});

it("fields are chosen by the words that pages show, and such words are accepted", async () => {
  const { body } = await web.get("/compare?from=1&to=3&field=Bra+count&ignore=last+modified+at");
  expect(body).toMatch(/<option value="bra_count"\s+selected>bra count<\/option>/);
  expect(body).toContain('<option value="is_discontinued">discontinued</option>');
  expect(await rowsAt("?from=1&to=3&field=Bra+count")).toEqual(
    await rowsBetween(1, 3, { fields: ["bra_count"] }),
  );
});

it("an earlier point is the last one that can be compared", async () => {
  expect(await rowsAt("?as-of=2&from=1")).toEqual(await rowsBetween(1, 2));
  expect((await web.get("/compare?as-of=2&to=3")).status).toBe(404);
});

it.each([
  ["?from=nonsense", 400, "is not a point in time"],
  ["?to=99", 404, "There is no run 99."],
  ["?from=1&kind=bra", 400, "There is no kind"],
  ["?from=1&field=bra_cuont", 400, "There is no field"],
  ["?from=1&brand=zzzz", 400, "There is no brand called"],
  ["?from=3&to=3", 200, "Nothing of this differs."],
  ["?as-of=1", 200, "There is no earlier run to compare with."],
] as const)("%s has the status %i and says why", async (query, status, text) => {
  const { body, ...reply } = await web.get(`/compare${query}`);
  expect([reply.status, body.includes(text)]).toEqual([status, true]);
  if (status !== 200) expect((await web.get(`/compare.json${query}`)).status).toBe(status);
});

it("changes are listed under the name that their brand had then", async () => {
  const { sandbox } = web.rig;
  const value = "A name of today" as never;
  sandbox.setFaults([{ kind: "brand", fault: "set", pointer: "/body/name", times: "always", value }]);
  await web.rig.sync({ mode: "verify", approve: true });
  sandbox.setFaults([]);
  const headings = async (query: string) =>
    (await web.get(`/compare${query}`)).body.match(/<h2><a href="\/brand\/[^"]+"><bdi>[^<]+/g) ?? [];
  const named = (all: readonly string[]) => all.filter((heading) => heading.endsWith("<bdi>A name of today"));
  expect(named(await headings("?from=3&to=4")).length).toBeGreaterThan(1);
  const before = await headings("?from=1&to=2&kind=brand");
  expect([before.length > 0, named(before)]).toEqual([true, []]);
});
