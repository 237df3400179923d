/**
 * `armoire diff` of two runs, compared with sqldiff (Debian's sqlite3-tools) on plain copies of a mirror without history,
 * and on copies of only the compared tables. All are whole commands that write their output to a file; the copies are made
 * before.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Connection } from "../../src/mirror/file/connection.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { median } from "../median.ts";
import { armoire } from "../processes.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";

const rounds = 5;
const maxMillis = 1000;
/** The tables that a diff compares, with their keys. */
const keysByTable = { brand: "href", model: "href", model_picture: "model_href, n", size: "href" };

/** Plain copies of the mirror without history, made after each of the runs to compare. */
export interface PlainCopies {
  readonly spans: readonly (readonly [name: string, from: number, to: number])[];
  /** Copies the mirror if this run is one to compare. */
  copyRun(mirror: Connection, run: number): void;
  /** The path of the copy made after a run. */
  pathOf(run: number): string;
}

/** @param runs total number of runs */
export function plainCopies(folder: string, runs: number): PlainCopies {
  const spans = [
    ["a month", runs - 1, runs],
    ["half a year", runs - 6, runs],
    ["a year", 1, runs],
  ] as const;
  const pathOf = (run: number) => join(folder, `mirror-of-${run}.sqlite`);
  return {
    spans,
    pathOf,
    copyRun(mirror, run) {
      if (!spans.some(([, from, to]) => run === from || run === to)) return;
      mirror.prepare("vacuum into ?").run(pathOf(run));
      const copy = new Database(pathOf(run));
      // Removes the history.
      copy.exec(`
        delete from _revision where to_run is not null or seq < (
          select max(seq) from _revision newer where newer.resource_id = _revision.resource_id);
        create index _kept on _revision (content_id);
        delete from _content where not exists (select 1 from _revision where content_id = _content.id);
        drop index _kept;
        vacuum`);
      copy.close();
    },
  };
}

export function benchDiff(file: string, folder: string, copies: PlainCopies): BenchmarkResult {
  const output = join(folder, "output.txt");
  const measured = copies.spans.map(([name, ...runs]) => {
    const tables = runs.map((run) => copyTables(file, run, join(folder, `tables-of-${run}.sqlite`)));
    const diff = ["diff", "--mirror", file, "--from", String(runs[0]), "--to", String(runs[1])];
    const commands = [
      [process.execPath, armoire, ...diff, "--format", "ndjson", "--quiet"],
      ["sqldiff", ...runs.map(copies.pathOf)],
      ["sqldiff", "--primarykey", ...tables],
    ];
    const times: number[][] = commands.map(() => []);
    for (let round = 0; round < rounds; round++)
      for (const [n, [command = "", ...args]] of commands.entries())
        if (hasSqldiff || command !== "sqldiff") times[n]?.push(timeMillis(command, args, output));
    const [ours = Number.NaN, ofMirrors = Number.NaN, ofTables = Number.NaN] = times.map(median);
    return { name, ours, ofMirrors, ofTables };
  });
  const slowest = Math.max(...measured.map(({ ours }) => ours));
  const ratios = measured.map(({ ours, ofMirrors }) => ours / ofMirrors);
  const formatSqldiffMillis = (millis: number) =>
    hasSqldiff ? formatCount(Math.round(millis)) : "not installed";
  return {
    title: "Commands that print the differences of two runs",
    headings: [
      "over",
      "armoire diff, ms",
      "sqldiff of two mirrors, ms",
      "ratio",
      "sqldiff of four tables alone, ms",
      "ratio",
    ],
    rows: measured.map(({ name, ours, ofMirrors, ofTables }) => [
      name,
      formatCount(Math.round(ours)),
      formatSqldiffMillis(ofMirrors),
      hasSqldiff ? (ours / ofMirrors).toFixed(2) : null,
      formatSqldiffMillis(ofTables),
      hasSqldiff ? (ours / ofTables).toFixed(2) : null,
    ]),
    targets: [
      {
        target: "diff of two runs ≤ 1 s",
        measured: `${formatCount(Math.round(slowest))} ms at most`,
        isMet: slowest <= maxMillis,
      },
      {
        target: "diff of two runs ≤ sqldiff on two plain copies of the mirror",
        measured: hasSqldiff ? `${Math.max(...ratios).toFixed(2)} at most` : "sqldiff is not installed",
        isMet: ratios.every((ratio) => ratio <= 1),
      },
    ],
  };
}

const hasSqldiff = spawnSync("sqldiff", ["--help"]).error === undefined;

/** Copies the tables as of a run into a new file, with their keys and without indexes. */
function copyTables(mirror: string, run: number, copy: string): string {
  const { db, close } = openMirrorReader(mirror, { kind: "run", run });
  const plain = new Database(copy);
  for (const [table, key] of Object.entries(keysByTable)) {
    plain.exec(`drop table if exists ${table}`);
    const columns = db
      .prepare<[], string>(
        `select name from pragma_table_info('${table}') where name not in ('checked_at', 'confirmed')`,
      )
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
