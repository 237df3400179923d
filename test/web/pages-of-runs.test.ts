/** The run log: the runs of the mirror, as a page and as rows. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { listRuns, type RunRecord } from "../../src/mirror/runs/runs.ts";
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
  expect([...body.matchAll(/<th scope="row">(\d+)/g)].map(([, run]) => Number(run))).toEqual([4, 2, 1]);
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
  expect((await web.get("/runs")).body).toMatch(/<td>\s*budget\s*<\/td>/);
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
