/** A mirror of which runs were pruned: every answer about the past names the run that it shows, and what was pruned nearer. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../src/mirror/writer.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
/** The address of one. */
let brand: string;
/** The ends of runs 1 to 6, ISO 8601. */
let ends: readonly string[];
let exportsMade = 0;

/** Runs 2 to 4 are pruned. Run 3 sent nothing; nor did runs 5 and 6, of which run 5 has what runs 2 to 4 changed. */
beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ brands: 3, models: 4, sizes: 8 });
  for (const budget of [null, null, 0, null, 0, 0]) {
    await sync({ file: file(), baseUrl: sandbox.url, mode: "verify", budget });
    sandbox.advance({ changes: 1, kind: "brand" });
  }
  readMirror(file(), ({ db }) => {
    ends = db.prepare<[], string>("select ended_at from _run order by id").pluck().all();
    brand = db.prepare<[], string>("select href from brand limit 1").pluck().get() ?? "";
  });
  await prune([2, 3, 4]);
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

async function prune(runs: readonly number[]) {
  const identity = readMirror(file(), (mirror) => mirror.identity);
  const openedAt = new Date().toISOString();
  const mirror = await openMirrorWriter({ file: file(), kinds, identity, openedAt });
  mirror.pruneRuns(runs, openedAt);
  mirror.close();
}

const file = () => join(folder.path, "catalogue.sqlite");

async function run(...args: readonly string[]) {
  const { exitCode, ...printed } = await callArmoire([...args, "--mirror", file()], { cwd: folder.path });
  expect(exitCode).toBe(0);
  return printed;
}

const exporting = () => ["export", "--out", join(folder.path, `export-${++exportsMade}`), "--json"];

it("the latest run is one whose state is that of the mirror, although it sent nothing itself", async () => {
  const names = [
    "query",
    "select href, name, bra_count, official_url, last_modified_at from brand order by 1",
  ];
  const { stdout: present } = await run(...names);
  expect((await run(...names, "--as-of", "1")).stdout).not.toBe(present);
  expect(await run(...names, "--as-of", "latest")).toMatchObject({
    stdout: present,
    stderr: expect.stringMatching(/^As of run 5 \(/),
  });
  expect(JSON.parse((await run("diff", "--json")).stdout)).toMatchObject({
    from: { run: 1 },
    to: { run: 5 },
  });
  expect((await run("changes")).stdout).toMatch(/^## Run 5, /m);
  expect((await run("runs")).stdout).toMatch(/^ *5 /m);
});

it.each<[string, () => string[]]>([
  ["query", () => ["query", "select 1"]],
  ["show", () => ["show", "brand", brand]],
  ["status", () => ["status"]],
  ["export", exporting],
])("%s as of a time says how many later runs were pruned", async (_name, command) => {
  for (const [point, later] of [
    [ends[2], "the last that is left by .*; 1 later one was pruned"],
    [ends[3], "the last that is left by .*; 2 later ones were pruned"],
    ["latest-1", "UTC; 2 later ones were pruned"],
  ])
    expect((await run(...command(), "--as-of", `${point}`)).stderr).toMatch(
      new RegExp(`^As of run 1 \\(.*${later}\\): `),
    );
  for (const point of ["1", "5", `${ends[0]}`, `${ends[4]}`])
    expect((await run(...command(), "--as-of", point)).stderr).not.toContain("prune");
});

it.each<[string, number, (point: string) => string[]]>([
  ["diff --from", 4, (point) => ["diff", "--from", point]],
  ["diff --to", 4, (point) => ["diff", "--from", "1", "--to", point]],
  // What changed at that time counts.
  ["export --changed-since", 5, (point) => [...exporting(), "--changed-since", point]],
])("%s says which run stands for a time", async (_name, end, command) => {
  expect((await run(...command("5"))).stderr).not.toContain("prune");
  expect((await run(...command(`${ends[end - 1]}`))).stderr).toMatch(
    /^"20.*Z" is run 1, the last that is left: 2 later ones were pruned\.\n/,
  );
  expect((await run(...command(`${ends[end - 1]}`), "--quiet")).stderr).toBe("");
});

it("changes, recently_changed and @changed say that what pruned runs changed is not told apart", async () => {
  const lost = /^2 runs were pruned: .*\n$/;
  expect((await run("changes")).stderr).toMatch(lost);
  expect((await run("query", "select * from recently_changed")).stderr).toMatch(lost);
  expect((await run("query", "@changed")).stderr).toMatch(lost);
  expect((await run("query", "select * from brand")).stderr).toBe("");
  expect((await run("changes", "--quiet")).stderr).toBe("");
});

it("nothing of the first run that is left counts as added when all runs before it are pruned", async () => {
  await prune([1]);
  const baseline = "All runs before run 5 were pruned: ";
  for (const format of ["markdown", "ndjson", "atom", "jsonfeed"]) {
    const { stdout, stderr } = await run("changes", "--format", format);
    expect(stdout).not.toContain("added");
    expect(stdout).not.toMatch(/run\W*5/i);
    expect(stderr).toBe(`${baseline}only changes after it are listed.\n`);
  }
  const shown = await run("runs", "show", "5", "--json");
  expect(JSON.parse(shown.stdout)).toMatchObject({ totals: {} });
  expect(shown.stderr).toBe(`${baseline}its changes are not known.\n`);
  const counts = await run("query", "@counts-by-run", "--kind", "brand", "--json");
  expect(JSON.parse(counts.stdout).at(-1)).toMatchObject({ run: 5, added: null, gone: null, held: 3 });

  await sync({ file: file(), baseUrl: sandbox.url, mode: "verify" });
  expect((await run("changes", "--format", "ndjson")).stdout).toMatch(
    /^(\{"run":7,.*"change":"changed".*\n)+$/,
  );
});
