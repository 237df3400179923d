/** `query --out`: the rows of an answer in a file of any format. */
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMirror } from "../../../../src/mirror/file/create-mirror.ts";
import { callArmoire, runArmoire } from "../../../support/run-armoire.ts";
import { type Rig, startRig } from "../../../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 3, models: 4, sizes: 5 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

const sql = "select 1 as n, 1.5 as x, 'é\n' as name union all select 2, 2, null order by 1";
const placeOf = (name: string) => join(rig.file, "..", name);
const query = (...args: readonly string[]) => callArmoire(["query", ...args, "--mirror", rig.file]);

it("the ending of --out decides the format", async () => {
  const contents: Record<string, string> = {};
  for (const ending of ["csv", "json", "ndjson"]) {
    const file = placeOf(`answer.${ending}`);
    expect(await query(sql, "--out", file)).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: `2 rows written to ${file}\n`,
    });
    contents[ending] = readFileSync(file, "utf8");
  }
  expect(contents.csv).toBe('n,x,name\n1,1.5,"é\n"\n2,2,\n');
  expect(contents.ndjson).toBe('{"n":1,"x":1.5,"name":"é\\n"}\n{"n":2,"x":2,"name":null}\n');
  expect(JSON.parse(contents.json ?? "")).toHaveLength(2);
});

it("Parquet and SQLite files have columns of whole numbers, numbers and text", async () => {
  const [parquet, sqlite] = [placeOf("answer.parquet"), placeOf("answer.sqlite")];
  expect(await query(sql, "--out", parquet)).toMatchObject({ exitCode: 0 });
  expect(await query(sql, "--out", sqlite)).toMatchObject({ exitCode: 0 });
  const duck = await (await DuckDBInstance.create(":memory:")).connect();
  const read = await duck.runAndReadAll(
    `select n, x, name, typeof(n) as t, typeof(x) as u from '${parquet}'`,
  );
  expect(read.getRowObjectsJson()).toEqual([
    { n: "1", x: 1.5, name: "é\n", t: "BIGINT", u: "DOUBLE" },
    { n: "2", x: 2, name: null, t: "BIGINT", u: "DOUBLE" },
  ]);
  const db = new Database(sqlite, { readonly: true });
  expect(db.prepare("select n, x, name, typeof(x) as t from answer").all()).toEqual([
    { n: 1, x: 1.5, name: "é\n", t: "real" },
    { n: 2, x: 2, name: null, t: "real" },
  ]);
  db.close();
});

it("an answer replaces an earlier file only if the query succeeds", async () => {
  const file = placeOf("kept.csv");
  writeFileSync(file, "old");
  const failing = "select abs(-9223372036854775808)";
  expect((await query(failing, "--out", file)).exitCode).not.toBe(0);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(await query("select 1 as n", "--out", file, "--quiet")).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "",
  });
  expect(readFileSync(file, "utf8")).toBe("n\n1\n");
});

it("a folder, a link, a file in place of a folder and a name without a known ending are refused in one line", async () => {
  mkdirSync(placeOf("folder.csv"));
  symlinkSync(placeOf("kept.csv"), placeOf("link.csv"));
  for (const [name, exitCode] of [
    ["folder.csv", 2],
    ["link.csv", 2],
    ["kept.csv/answer.csv", 1],
    ["answer", 2],
  ] as const) {
    const { stderr, ...ended } = await query("select 1", "--out", placeOf(name));
    expect([name, ended.exitCode]).toEqual([name, exitCode]);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
  }
});

it("a refused file ends the command at once, not at its timeout", async () => {
  const args = ["query", "select 1", "--mirror", rig.file, "--timeout", "100000"];
  const { exitCode } = await runArmoire([...args, "--out", placeOf("kept.csv/answer.csv")]);
  expect(exitCode).toBe(1);
});

it("--format parquet without --out is refused", async () => {
  const { exitCode, stderr } = await query("select 1", "--format", "parquet");
  expect(exitCode).toBe(2);
  expect(stderr).toContain("--format parquet needs --out FILE");
});

it("an answer of a catalogue has the modes that the umask allows", async () => {
  const umask = process.umask(0o022);
  try {
    await query("select 1 as n", "--out", placeOf("mode.csv"));
    await query("select 1 as n", "--out", placeOf("mode.sqlite"));
  } finally {
    process.umask(umask);
  }
  for (const name of ["mode.csv", "mode.sqlite"]) expect(statSync(placeOf(name)).mode & 0o777).toBe(0o644);
  chmodSync(placeOf("mode.csv"), 0o600);
});

it("a large answer that cannot be written ends in one line", async () => {
  const many =
    "with recursive n (i) as (select 1 union all select i + 1 from n where i < 90000) select i, hex(i) as h from n";
  const { exitCode, stderr } = await query(many, "--out", placeOf("kept.csv/large.csv"));
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^armoire: Cannot write .*large\.csv: /);
});

it("a mirror is not replaced by an answer, and a neighbouring file stays", async () => {
  const before = readFileSync(rig.file);
  const { exitCode, stderr } = await query("select 1", "--out", rig.file, "--format", "sqlite");
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is a database of a program")]);
  expect(readFileSync(rig.file).equals(before)).toBe(true);
  const log = await query("select 1", "--out", `${rig.file}-wal`, "--format", "csv");
  expect([log.exitCode, log.stderr]).toEqual([2, expect.stringContaining("one of Armoire's own files.\n")]);
  writeFileSync(placeOf("mine.sqlite.new"), "mine");
  expect(await query("select 1 as n", "--out", placeOf("mine.sqlite"))).toMatchObject({ exitCode: 0 });
  expect(await query("select 2 as n", "--out", placeOf("mine.sqlite"))).toMatchObject({ exitCode: 0 });
  expect(readFileSync(placeOf("mine.sqlite.new"), "utf8")).toBe("mine");
});

it("whole numbers of a mixed column stay whole in SQLite, and names that differ in case stay apart", async () => {
  const file = placeOf("mixed.sqlite");
  const sql = "select 1 as a, 2 as A union all select 'x', 3 order by 2";
  expect(await query(sql, "--out", file)).toMatchObject({ exitCode: 0 });
  const db = new Database(file, { readonly: true });
  expect(db.prepare("select typeof(a) as t, a || '' as text, A_2 as other from answer").all()).toEqual([
    { t: "integer", text: "1", other: 2 },
    { t: "text", text: "x", other: 3 },
  ]);
  db.close();
});

it("a cut answer is said to be cut, also with --quiet", async () => {
  const { stderr } = await query(
    "select 1 union select 2",
    "--max-rows",
    "1",
    "--out",
    placeOf("cut.csv"),
    "--quiet",
  );
  expect(stderr).toBe("Only the first 1 rows are in the file; --max-rows raises the limit.\n");
});

it("--out with --list, and --json with another ending, are refused", async () => {
  expect(await query("--list", "--out", placeOf("list.csv"))).toMatchObject({ exitCode: 2 });
  expect(await query("select 1", "--json", "--out", placeOf("other.csv"))).toMatchObject({ exitCode: 2 });
});

it("an answer of an account's mirror is private, however the mirror is named", async () => {
  const mirror = placeOf("account.sqlite");
  await createMirror(mirror, { baseUrl: "https://a.example/", area: "account", serviceName: "service" });
  const umask = process.umask(0o022);
  try {
    for (const name of ["private.csv", "private.parquet", "private.sqlite"])
      await callArmoire([
        "query",
        "select * from bra",
        "--mirror",
        mirror,
        "--out",
        placeOf(name),
        "--quiet",
      ]);
  } finally {
    process.umask(umask);
  }
  for (const name of ["private.csv", "private.parquet", "private.sqlite"])
    expect([name, statSync(placeOf(name)).mode & 0o777]).toEqual([name, 0o600]);
});
