/**
 * What changed between two runs, against sqldiff (of Debian's sqlite3-tools) on two plain copies of the same tables. Both
 * are whole commands, from their start on, that write all that they find into a file; making the copies is not counted.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { openMirrorReader } from "../../src/mirror/mirror.ts";
import { type Findings, formatCount } from "../aim.ts";
import { median } from "../median.ts";

const rounds = 5;
const mostMillis = 1000;
/** All that a diff compares, with its key. */
const keys = { brand: "href", model: "href", model_picture: "model_href, n", size: "href" };
const program = new URL("../../src/cli/armoire.js", import.meta.url).pathname;

/** @param runs how many there are */
export function benchDiff(file: string, folder: string, runs: number): Findings {
  const spans = [
    ["a month", runs - 1, runs],
    ["half a year", runs - 6, runs],
    ["a year", 1, runs],
  ] as const;
  const measured = spans.map(([name, from, to]) => {
    const copies = [from, to].map((run) => copyPlainly(file, run, join(folder, `run-${run}.sqlite`)));
    const ours: number[] = [];
    const theirs: number[] = [];
    const found = join(folder, "found.txt");
    const asked = ["diff", "--mirror", file, "--from", String(from), "--to", String(to)];
    for (let round = 0; round < rounds; round++) {
      ours.push(timeMillis(process.execPath, [program, ...asked, "--format", "ndjson", "--quiet"], found));
      if (hasSqldiff) theirs.push(timeMillis("sqldiff", ["--primarykey", ...copies], found));
    }
    return { name, ours: median(ours), theirs: median(theirs) };
  });
  const slowest = Math.max(...measured.map(({ ours }) => ours));
  const ratios = measured.map(({ ours, theirs }) => ours / theirs);
  return {
    title: "What changed between two runs, as commands that print it",
    headings: ["over", "armoire diff, ms", "sqldiff, ms", "ratio"],
    rows: measured.map(({ name, ours, theirs }) => [
      name,
      formatCount(Math.round(ours)),
      hasSqldiff ? formatCount(Math.round(theirs)) : "not installed",
      hasSqldiff ? (ours / theirs).toFixed(2) : null,
    ]),
    aims: [
      {
        aim: "diff of two runs ≤ 1 s",
        reached: `${formatCount(Math.round(slowest))} ms at most`,
        isReached: slowest <= mostMillis,
      },
      {
        aim: "diff of two runs ≤ sqldiff on two plain copies",
        reached: hasSqldiff ? `${Math.max(...ratios).toFixed(2)} at most` : "sqldiff is not installed",
        isReached: ratios.every((ratio) => ratio <= 1),
      },
    ],
  };
}

const hasSqldiff = spawnSync("sqldiff", ["--help"]).error === undefined;

/** The tables as they were, with their keys and nothing else, in a file of their own. */
function copyPlainly(mirror: string, run: number, copy: string): string {
  const { db, close } = openMirrorReader(mirror, { kind: "run", run });
  const plain = new Database(copy);
  for (const [table, key] of Object.entries(keys)) {
    plain.exec(`drop table if exists ${table}`);
    const columns = db
      .prepare<[], string>(`select name from pragma_table_info('${table}') where name <> 'checked_at'`)
      .pluck()
      .all();
    plain.exec(`create table ${table} (${columns.join(", ")}, primary key (${key}))`);
    const insert = plain.prepare(`insert into ${table} values (${columns.map(() => "?").join(", ")})`);
    plain.transaction(() => {
      const rows = db
        .prepare(`select ${columns.join(", ")} from ${table}`)
        .raw()
        .safeIntegers();
      for (const row of rows.iterate()) insert.run(row);
    })();
  }
  plain.close();
  close();
  return copy;
}

function timeMillis(command: string, args: readonly string[], output: string): number {
  const descriptor = openSync(output, "w");
  try {
    const startedAt = performance.now();
    execFileSync(command, [...args], { stdio: ["ignore", descriptor, "inherit"] });
    return performance.now() - startedAt;
  } finally {
    closeSync(descriptor);
  }
}
