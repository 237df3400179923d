/** How soon a catalogue of real size is exported, compared with SQLite's shell and sqlite-utils, and the memory it takes. */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, copyFileSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { type ExportFormat, exportFormats } from "../../exports/formats/table.ts";
import { median } from "../median.ts";
import { armoire, mirrorRealCatalogue, readLauncherFlags } from "../processes.ts";
import { type BenchmarkResult, printResults, type Target } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";

const rounds = 7;
/** The time of a format, divided by that of the shell. */
const maxRatios: Partial<Record<ExportFormat, number>> = { csv: 2, ndjson: 2.2, parquet: 3, sqlite: 3 };
const maxMebibytes = 150;
/** Copies of each size, so that the tables have a million rows. */
const copies = 10;

export async function benchExport(print: (text: string) => void): Promise<void> {
  const folder = await makeTemporaryFolder();
  try {
    const mirror = join(folder, "catalogue.sqlite");
    await mirrorRealCatalogue(mirror);
    const large = join(folder, "large.sqlite");
    copyFileSync(mirror, large);
    multiplySizes(large);
    await printResults(print, [() => compareTimes(mirror, folder), () => measureMemory(large, folder)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Program {
  readonly name: string;
  readonly run: () => void;
  readonly seconds: number[];
}

function compareTimes(mirror: string, folder: string): BenchmarkResult {
  const out = (format: ExportFormat) => join(folder, format);
  // Also warms the page cache.
  exportAs("csv", mirror, out("csv"));
  const tables = tablesOf(out("csv"));
  const shell = program("sqlite3 shell, CSV", () => exportByShell(mirror, tables, folder));
  const formats = exportFormats.map((format) => ({
    format,
    program: program(`armoire, ${format}`, () => exportAs(format, mirror, out(format))),
  }));
  const utils = (["csv", "json", "ndjson"] as const).map((format) => ({
    format,
    program: program(`sqlite-utils, ${format}`, () => exportByUtils(format, mirror, tables, folder)),
  }));
  const others = hasSqliteUtils() ? utils : [];
  const programs = [shell, ...[...formats, ...others].map((each) => each.program)];
  for (let round = 0; round < rounds; round++) for (const each of programs) time(each);
  const ratio = ({ seconds }: Program) =>
    median(seconds.map((taken, n) => taken / (shell.seconds[n] ?? Number.NaN)));
  const targets = formats.flatMap(({ format, program: own }): Target[] => {
    const maxRatio = maxRatios[format];
    const other = others.find((each) => each.format === format);
    return [
      ...(maxRatio === undefined
        ? []
        : [isAtMost(`${format} ≤ ${maxRatio} × the sqlite3 shell`, ratio(own), maxRatio)]),
      ...(other === undefined
        ? []
        : [isAtMost(`${format} faster than sqlite-utils: ratio ≤ 1`, ratio(own) / ratio(other.program), 1)]),
    ];
  });
  const [parquet, csv] = [bytesOf(out("parquet"), ".parquet"), gzippedBytesOf(out("csv"))];
  return {
    title: "Export of a catalogue of real size",
    headings: ["", "median s", "÷ shell"],
    rows: programs.map((each) => [each.name, median(each.seconds).toFixed(2), ratio(each).toFixed(2)]),
    targets: [...targets, isAtMost("bytes of Parquet ÷ gzipped CSV ≤ 1", parquet / csv, 1)],
  };
}

function measureMemory(mirror: string, folder: string): BenchmarkResult {
  const preload = new URL("../print-peak.js", import.meta.url).href;
  const measured = exportFormats.map((format) => ({
    format,
    peak: Number(exportAs(format, mirror, join(folder, `large-${format}`), ["--import", preload])),
  }));
  return {
    title: "Memory of an export of a million rows",
    headings: ["", "peak MiB"],
    rows: measured.map(({ format, peak }) => [format, Math.round(peak)]),
    targets: measured.map(({ format, peak }) =>
      isAtMost(`${format}: MiB ≤ ${maxMebibytes}`, peak, maxMebibytes),
    ),
  };
}

const isAtMost = (target: string, value: number, max: number): Target => ({
  target,
  measured: value < 10 ? value.toFixed(2) : String(Math.round(value)),
  isMet: value <= max,
});

const program = (name: string, run: () => void): Program => ({ name, run, seconds: [] });

function time({ run, seconds }: Program): void {
  const startedAt = performance.now();
  run();
  seconds.push((performance.now() - startedAt) / 1000);
}

/** @returns what the command wrote to file descriptor 3 */
function exportAs(
  format: ExportFormat,
  mirror: string,
  out: string,
  nodeFlags: readonly string[] = [],
): string | null | undefined {
  // The same state is not written twice.
  rmSync(out, { recursive: true, force: true });
  const args = ["export", "--mirror", mirror, "--format", format, "--out", out, "--quiet"];
  const { status, output } = spawnSync(
    process.execPath,
    [...readLauncherFlags(), ...nodeFlags, armoire, ...args],
    { stdio: ["ignore", "inherit", "inherit", "pipe"], encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`armoire export ended with ${status}`);
  return output[3];
}

/** The columns of each exported table, by its name. */
type Tables = Readonly<Record<string, string>>;

function tablesOf(csvExport: string): Tables {
  const files = readdirSync(csvExport).filter((name) => name.endsWith(".csv"));
  const columnsOf = (file: string) => readFileSync(join(csvExport, file), "utf8").split("\n", 1)[0] ?? "";
  return Object.fromEntries(files.map((file) => [basename(file, ".csv"), columnsOf(file)]));
}

function exportByShell(mirror: string, tables: Tables, folder: string): void {
  const script = Object.entries(tables).map(
    ([table, columns]) =>
      `.output ${join(folder, table)}.shell.csv\nselect ${columns} from ${table} order by 1, 2;\n`,
  );
  const input = `.mode csv\n.headers on\n${script.join("")}`;
  execFileSync("sqlite3", ["-readonly", mirror], { input });
}

function exportByUtils(
  format: keyof typeof flagsOfUtils,
  mirror: string,
  tables: Tables,
  folder: string,
): void {
  for (const [table, columns] of Object.entries(tables)) {
    const file = openSync(join(folder, `${table}.utils.${format}`), "w");
    const sql = `select ${columns} from ${table} order by 1, 2`;
    execFileSync("sqlite-utils", ["query", mirror, sql, ...flagsOfUtils[format]], {
      stdio: ["ignore", file, "inherit"],
    });
    closeSync(file);
  }
}

const flagsOfUtils = { csv: ["--csv"], json: [], ndjson: ["--nl"] } as const;

const hasSqliteUtils = () => spawnSync("sqlite-utils", ["--version"]).status === 0;

const bytesOf = (folder: string, ending: string): number =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0);

const gzippedBytesOf = (folder: string): number =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".csv"))
    .reduce((bytes, name) => bytes + gzipSync(readFileSync(join(folder, name))).length, 0);

function multiplySizes(mirror: string): void {
  const db = new Database(mirror);
  const columnsOf = (table: string, except: readonly string[]) =>
    db
      .prepare<[string], string>("select name from pragma_table_info(?)")
      .pluck()
      .all(table)
      .filter((name) => !except.includes(name))
      .join(", ");
  const resource = columnsOf("_resource", ["id", "url"]);
  const size = columnsOf("_size", ["id"]);
  const last = db.prepare<[], number>("select max(id) from _resource").pluck().get() ?? 0;
  db.pragma("foreign_keys = off");
  db.transaction(() => {
    for (let copy = 1; copy <= copies; copy++) {
      const add = copy * last;
      db.exec(`insert into _resource (id, url, ${resource})
        select id + ${add}, url || '${copy}/', ${resource} from _resource where id in (select id from _size where id <= ${last})`);
      db.exec(`insert into _size (id, ${size}) select id + ${add}, ${size} from _size where id <= ${last}`);
    }
  })();
  db.close();
}
