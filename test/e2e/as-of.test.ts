/** `--as-of` at the command line: a mirror of two runs, between which the service changed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

const sql = `select href, name, bra_count, logo, official_url, twitter, facebook, default_sizing_system, last_modified_at
  from brand order by href`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let first: { readonly rows: string; readonly csv: string };
let changed: string;
const { TZ: zone } = process.env;

beforeAll(async () => {
  process.env.TZ = "Europe/Berlin";
  folder = await temporaryFolder();
  sandbox = await startSandbox({ brands: 6, models: 12, sizes: 20 });
  await syncAll();
  first = { rows: await output("query", sql), csv: await exported("first") };
  const { actions } = sandbox.advance({ changes: 1, kind: "brand" });
  changed = actions[0]?.url ?? "";
  await syncAll();
});
afterAll(async () => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

const file = () => join(folder.path, "catalogue.sqlite");

async function syncAll(): Promise<void> {
  await sync({ file: file(), baseUrl: sandbox.url, mode: "verify" });
}

async function run(...args: readonly string[]) {
  return await callArmoire([...args, "--mirror", file()], { cwd: folder.path });
}

async function output(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await run(...args, "--quiet");
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
}

async function exported(name: string, ...args: readonly string[]): Promise<string> {
  await output("export", "--out", join(folder.path, name), "--table", "brand", "--format", "csv", ...args);
  return readFileSync(join(folder.path, name, "brand.csv"), "utf8");
}

it("the mirror has changed since its first run", async () => {
  expect(await output("query", sql)).not.toBe(first.rows);
});

it("query and export reproduce their earlier output, and the descriptor names the run", async () => {
  expect(await output("query", sql, "--as-of", "1")).toBe(first.rows);
  expect(await exported("past", "--as-of", "1")).toBe(first.csv);
  expect(JSON.parse(readFileSync(join(folder.path, "past", "datapackage.json"), "utf8"))).toMatchObject({
    armoire: { run: 1, asOf: 1 },
  });
});

it("show and status reproduce their earlier output", async () => {
  const [past, present] = await Promise.all(
    ["1", "latest"].map(async (point) =>
      JSON.parse(await output("show", "brand", changed, "--as-of", point, "--json")),
    ),
  );
  expect(past.fields.href).toBe(present.fields.href);
  expect(past).not.toEqual(present);
  expect(JSON.parse(await output("status", "--as-of", "1", "--json"))).toMatchObject({
    asOf: { run: 1 },
    lastRun: { id: 1 },
    kinds: expect.arrayContaining([
      expect.objectContaining({ kind: "brand", known: 6, held: 6, due: 0, failed: 0, gone: 0 }),
    ]),
  });
  expect(await output("status", "--as-of", "1")).toMatch(
    /^Mirror .*\nService .*\nLast run {3}1, .*\n\nkind /,
  );
});

it("a notice names the run and its coverage", async () => {
  const time = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC";
  const remarkOf = async (point: string) => (await run("query", "select 1", "--as-of", point)).stderr;
  expect(await remarkOf("1")).toMatch(
    new RegExp(`^As of run 1 \\(${time}\\): 100 % of the known resources were held\\.\\n$`),
  );
  expect(await remarkOf("-0h")).toMatch(
    new RegExp(`^As of run 2 \\(${time}, the last run by ${time}\\): 100 %`),
  );
  expect(await remarkOf("2999-12-31")).toMatch(
    /^As of run 2 \(.*, the last run by 2999-12-31 22:59:59 UTC: 2999-12-31, Europe\/Berlin time\): 100 %/,
  );
});

it.each([
  ["3", 1, /^armoire: There is no run 3\.\nAvailable runs: from run 1 \(.*\) to run 2 \(.*\)\.\n$/],
  [
    "2019-07",
    1,
    /^armoire: No run had ended by "2019-07" in the time zone Europe\/Berlin \(2019-07-31 21:59:59 UTC\)\.\nAvailable runs/,
  ],
  ["-9w", 1, /^armoire: No run had ended by .*\nAvailable runs/],
  ["soon", 2, /^armoire: "soon" is not a point in time\.\nUse a run number, a time /],
])("the invalid point %s gives exit code %i", async (point, exitCode, message) => {
  const out = join(folder.path, "never");
  for (const command of [
    ["query", "select 1"],
    ["show", "brand", changed],
    ["history", "brand", changed],
    ["status"],
    ["export", "--out", out],
  ])
    expect(await run(...command, "--as-of", point)).toEqual({
      stdout: "",
      stderr: expect.stringMatching(message),
      exitCode,
    });
});

it("history shows the changes in between", async () => {
  const history = JSON.parse(await output("history", "brand", changed, "--json"));
  expect(history).toMatchObject({
    ...{ kind: "brand", href: changed },
    lives: [{ gone: null, revisions: [{ firstSeen: { run: 1 } }, { firstSeen: { run: 2 } }] }],
  });
  const [change] = history.lives[0].revisions[1].changes;
  const text = await output("history", "brand", changed);
  expect(text).toMatch(/^brand {2}\S.*\n(?:.*\n)?Known since run 1, /);
  expect(text).toContain(`${change.field}`);
  expect(text).toMatch(/\nrun 2 {2}.* {2}changed, checked in run 2, .*\n {2}.* → /);
  const past = JSON.parse(await output("history", "brand", changed, "--as-of", "1", "--json"));
  expect(past.lives).toMatchObject([{ gone: null, revisions: [{ firstSeen: { run: 1 } }] }]);
  expect(await output("history", "brand", changed, "--as-of", "1")).not.toContain("run 2");
});
