/**
 * `armoire diff` between two runs, compared with sqldiff (Debian's sqlite3-tools) on plain copies of a mirror without
 * history, and on copies of only the compared tables. All are whole commands that write their result to a file; making
 * the copies is not measured.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Connection } from "../../src/mirror/file/connection.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { type Findings, formatCount } from "../aim.ts";
import { median } from "../median.ts";

const rounds = 5;
const mostMillis = 1000;
/** All that a diff compares, with its key. */
const keys = { brand: "href", model: "href", model_picture: "model_href, n", size: "href" };
const program = new URL("../../src/cli/armoire.js", import.meta.url).pathname;

/** Plain copies of a mirror that remembers nothing, as it was after those runs that are compared. */
export interface PlainCopies {
  readonly spans: readonly (readonly [name: string, from: number, to: number])[];
  keep(mirror: Connection, run: number): void;
  of(run: number): string;
}

/** @param runs how many there will be */
export function plainCopies(folder: string, runs: number): PlainCopies {
  const spans = [
    ["a month", runs - 1, runs],
    ["half a year", runs - 6, runs],
    ["a year", 1, runs],
  ] as const;
  const of = (run: number) => join(folder, `mirror-of-${run}.sqlite`);
  return {
    spans,
    of,
    keep(mirror, run) {
      if (!spans.some(([, ...ends]) => ends.includes(run))) return;
      mirror.prepare("vacuum into ?").run(of(run));
      const copy = new Database(of(run));
      // Contains only the present.
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

export function benchDiff(file: string, folder: string, copies: PlainCopies): Findings {
  const found = join(folder, "found.txt");
  const measured = copies.spans.map(([name, ...ends]) => {
    const tables = ends.map((run) => copyTables(file, run, join(folder, `tables-of-${run}.sqlite`)));
    const asked = ["diff", "--mirror", file, "--from", String(ends[0]), "--to", String(ends[1])];
    const commands = [
      [process.execPath, program, ...asked, "--format", "ndjson", "--quiet"],
      ["sqldiff", ...ends.map(copies.of)],
      ["sqldiff", "--primarykey", ...tables],
    ];
    const times: number[][] = commands.map(() => []);
    for (let round = 0; round < rounds; round++)
      for (const [n, [command = "", ...args]] of commands.entries())
        if (hasSqldiff || command !== "sqldiff") times[n]?.push(timeMillis(command, args, found));
    const [ours = Number.NaN, ofMirrors = Number.NaN, ofTables = Number.NaN] = times.map(median);
    return { name, ours, ofMirrors, ofTables };
  });
  const slowest = Math.max(...measured.map(({ ours }) => ours));
  const ratios = measured.map(({ ours, ofMirrors }) => ours / ofMirrors);
  const shown = (millis: number) => (hasSqldiff ? formatCount(Math.round(millis)) : "not installed");
  return {
    title: "What changed between two runs, as commands that print it",
    headings: [
      "over",
      "armoire diff, ms",
      "sqldiff of two mirrors, ms",
      "ratio",
      "of four tables alone, ms",
      "ratio",
    ],
    rows: measured.map(({ name, ours, ofMirrors, ofTables }) => [
      name,
      formatCount(Math.round(ours)),
      shown(ofMirrors),
      hasSqldiff ? (ours / ofMirrors).toFixed(2) : null,
      shown(ofTables),
      hasSqldiff ? (ours / ofTables).toFixed(2) : null,
    ]),
    aims: [
      {
        aim: "diff of two runs ≤ 1 s",
        reached: `${formatCount(Math.round(slowest))} ms at most`,
        isReached: slowest <= mostMillis,
      },
      {
        aim: "diff of two runs ≤ sqldiff on two plain copies of the mirror",
        reached: hasSqldiff ? `${Math.max(...ratios).toFixed(2)} at most` : "sqldiff is not installed",
        isReached: ratios.every((ratio) => ratio <= 1),
      },
    ],
  };
}

const hasSqldiff = spawnSync("sqldiff", ["--help"]).error === undefined;

/** The tables as they were, with their keys and nothing else, in a file of their own. */
function copyTables(mirror: string, run: number, copy: string): string {
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
