/** The run log, and what each run changed, as pages and as rows. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Change } from "../../src/change/change.ts";
import type { Keyed } from "../../src/change/keys.ts";
import { rowsOf } from "../../src/change/log/change-rows.ts";
import { openDiff } from "../../src/change/open-diff.ts";
import { listRuns, type RunRecord } from "../../src/mirror/runs/run-log.ts";
import { formatCount } from "../../src/presentation/numbers.ts";
import { linksIn, startWebRig, type WebRig } from "./support/web-rig.ts";

let web: WebRig;
let runs: readonly RunRecord[];
beforeAll(async () => {
  web = await startWebRig();
  // A run without requests.
  await web.rig.sync({ budget: 0 });
  await web.rig.sync({ mode: "full", budget: 3 });
  runs = web.rig.read((mirror) => listRuns(mirror, -1));
});
afterAll(() => web[Symbol.asyncDispose]());

const rowsAt = async (path: string): Promise<Record<string, unknown>[]> =>
  JSON.parse((await web.get(path)).body);

const runsOf = async (path: string) => (await rowsAt(path)).map(({ run }) => run);

it("the run log has the runs that sent a request, newest first, and all of them on request", async () => {
  expect(runs.map(({ id }) => id)).toEqual([4, 3, 2, 1]);
  expect(await runsOf("/runs.json")).toEqual([4, 2, 1]);
  expect(await runsOf("/runs.json?idle=any")).toEqual([4, 3, 2, 1]);
  const { body } = await web.get("/runs");
  expect(
    [...body.matchAll(/<th scope="row"><a href="\/changes\/(\d+)/g)].map(([, run]) => Number(run)),
  ).toEqual([4, 2, 1]);
  expect(linksIn(body)).toContain("/runs?idle=any");
  expect(linksIn((await web.get("/runs?idle=any")).body)).toContain("/runs");
});

it("a run has its times, its requests, what it found and why it stopped", async () => {
  const [run] = runs;
  const { new: added, changed, gone, failed } = run?.counts?.resources ?? {};
  const found = { new: added, changed, gone, failed };
  const [row] = await rowsAt("/runs.json");
  expect(row).toEqual({
    run: run?.id,
    started_at: run?.startedAt,
    ended_at: run?.endedAt,
    mode: "full",
    result: "budget",
    requests_counted: run?.counts?.requests?.counted,
    requests_sent: run?.counts?.requests?.sent,
    ...found,
    error: null,
    pruned_at: null,
  });
  expect((await web.get("/runs")).body).toMatch(/<td>\s*budget used up\s*<\/td>/);
});

it("runs after a run are the earlier ones", async () => {
  expect(await runsOf("/runs.json?after=4")).toEqual([2, 1]);
  expect(await runsOf("/runs.json?after=nonsense")).toEqual([4, 2, 1]);
  expect(linksIn((await web.get("/runs?after=4&idle=any")).body)).toContain("/runs?idle=any");
});

it("an earlier point shows the runs up to it", async () => {
  expect(await runsOf("/runs.json?as-of=2&idle=any")).toEqual([2, 1]);
  expect((await web.get("/runs?as-of=2")).body).toContain("2 runs");
});

async function diffOf(run: number): Promise<Keyed<Change>[]> {
  const mirror = web.rig.file;
  const opened = await openDiff({ mirror, from: "previous", to: { kind: "run", run } });
  try {
    return [...opened.changes];
  } finally {
    opened.close();
  }
}

it("the runs that found something are listed, and lead to their changes", async () => {
  expect(runs.map(({ id }) => id)).toEqual([4, 3, 2, 1]);
  expect(await runsOf("/changes.json")).toEqual([2, 1]);
  expect(await runsOf("/changes.json?after=2")).toEqual([1]);
  expect(await runsOf("/changes.json?as-of=1")).toEqual([1]);
  expect(linksIn((await web.get("/changes")).body)).toEqual(
    expect.arrayContaining(["/changes/2", "/changes/1"]),
  );
});

it("the rows of a run's changes are those of its diff, in each format", async () => {
  for (const run of [1, 2]) {
    const changes = await diffOf(run);
    const rows = changes.flatMap((change) => rowsOf(change));
    expect(rows.length).toBeGreaterThan(20);
    const json = await rowsAt(`/changes/${run}.json`);
    expect(json.map(({ href, change, field }) => [href, change, field])).toEqual(
      rows.map(([, , href, , , , change, field]) => [href, change, field]),
    );
    const ndjson = (await web.get(`/changes/${run}.ndjson`)).body.trimEnd().split("\n");
    expect(ndjson.map((line) => JSON.parse(line))).toEqual(json);
    expect((await web.get(`/changes/${run}.csv`)).body).toMatch(
      /^kind,key,href,brand,model,name,change,field,before,after\n/,
    );
  }
});

/** How many changes each entry of a page stands for. */
const countsIn = (body: string): number[] =>
  [...body.matchAll(/<li[^>]*><p class="when">(.*?)<\/p>/gs)].map(([, text = ""]) =>
    Number(text.match(/>(\d+) sizes</)?.[1] ?? 1),
  );
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

it("sizes that were added to one model, or removed with it, share an entry", async () => {
  const whole = (await diffOf(2)).filter(
    (change) => change.kind === "size" && (change.change === "added" || change.change === "removed"),
  );
  const modelOf = (change: Change) => ("row" in change ? change.row.model_href : null);
  const groups = [...Map.groupBy(whole, (change) => `${change.change} ${modelOf(change)}`).values()];
  const expected = groups.map(({ length }) => length).filter((count) => count > 1);
  expect(expected.length).toBeGreaterThan(1);
  const shown = countsIn((await web.get("/changes/2")).body).filter((count) => count > 1);
  expect(shown.toSorted()).toEqual(expected.toSorted());
});

it("a run's page has each of its changes below its brand, with the values before and after", async () => {
  const changes = await diffOf(2);
  const { body } = await web.get("/changes/2");
  expect(sumOf(countsIn(body))).toBe(changes.length);
  const fields = changes.flatMap((change) => ("fields" in change ? change.fields : []));
  expect(fields.length).toBeGreaterThan(10);
  expect(body.match(/<dt>/g)).toHaveLength(fields.length);
  const sections = body.split("<section>").slice(1);
  const brands = web.rig.read(({ db }) =>
    db
      .prepare(
        `select distinct brand_href from (select href, href as brand_href from brand union all
           select href, brand_href from model union all select href, brand_href from size)
         where href in (select value from json_each(?))`,
      )
      .pluck()
      .all(JSON.stringify(changes.map(({ href }) => href))),
  );
  const headings = sections.map((section) => section.match(/<h2><a href="\/brand\/([^"/]+)"/)?.[1] ?? "");
  expect(sections).toHaveLength(brands.length);
  for (const [n, section] of sections.entries()) {
    const paths = linksIn(section).flatMap((link) => link.match(/^\/brand\/([^/]+)/)?.[1] ?? []);
    expect(new Set(paths)).toEqual(new Set([headings[n]]));
  }
});

it("of a first run, the page has the numbers that it has counted, a part, and a link to all", async () => {
  const found = runs.at(-1)?.counts?.resources.new ?? 0;
  expect(found).toBeGreaterThan(100);
  const { body } = await web.get("/changes/1");
  expect(body).toContain(`${formatCount(found, "new resource")}, 0 changed, 0 gone`);
  expect(sumOf(countsIn(body))).toBe(50);
  expect(body).toContain("These are changes 1 to 50, brands first.");
  expect(linksIn(body)).toContain("/changes/1.csv");
  expect(body).toContain("There is no run before it");
});

it("the pages of a run's changes have all of them, each once", async () => {
  const changes = await diffOf(1);
  let path: string | undefined = "/changes/1";
  let shown = 0;
  let pages = 0;
  while (path !== undefined) {
    const { body } = await web.get(path);
    const count = sumOf(countsIn(body));
    expect(body).toContain(`changes ${shown + 1} to ${shown + count}`);
    shown += count;
    pages++;
    path = linksIn(body).find((href) => href === `/changes/1?after=${shown}`);
  }
  expect([shown, pages]).toEqual([changes.length, Math.ceil(changes.length / 50)]);
  const behind = await web.get(`/changes/1?after=${shown}`);
  expect([behind.status, linksIn(behind.body).includes("/changes/1")]).toEqual([200, true]);
});

it.each([
  ["/changes/4", 200, "changed no brand, model or size"],
  ["/changes/99", 404, "There is no run 99."],
  ["/changes/99.json", 404, "There is no run 99."],
  ["/changes/nonsense", 400, "nonsense"],
  ["/changes/2?as-of=1", 404, "There is no run 2."],
] as const)("%s has the status %i and says why", async (path, status, text) => {
  const reply = await web.get(path);
  expect([reply.status, reply.body.includes(text)]).toEqual([status, true]);
});

it("a point in time leads to the changes of its run", async () => {
  const { status, headers } = await web.get("/changes/latest");
  expect([status, headers.location]).toEqual([302, "/changes/4"]);
});
