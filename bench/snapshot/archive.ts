/**
 * The commands on one file: their time, in turn with tar and zstd of the same bodies as files and with `mirror rebuild`, their
 * memory, and the sizes.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readBodies } from "../../src/mirror/bodies/read-body.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { median } from "../median.ts";
import { armoire, readLauncherFlags, readLauncherVariables } from "../processes.ts";
import { type BenchmarkResult, formatCount, type Target } from "../results.ts";

const rounds = 3;
const maxRatios = { create: 1.5, load: 1.2 };
const names = { elapsed: "elapsed", cpu: "processor time" };
const maxMegabytes = 200;
const maxFileMegabytes = 45;

interface Program {
  readonly name: string;
  readonly command: readonly string[];
  /** Processor time, with that of the processes that it starts. */
  readonly cpu: number[];
  readonly elapsed: number[];
  /** Megabytes; null for other programs. */
  peak: number | null;
}

export function benchArchive(mirror: string, folder: string): BenchmarkResult {
  const place = (name: string) => join(folder, name);
  const resources = writeBodies(mirror, place("bodies"));
  const own = (name: string, ...args: string[]): Program =>
    program(name, [
      ...[
        process.execPath,
        ...readLauncherFlags(),
        "--import",
        new URL("../print-peak.js", import.meta.url).href,
      ],
      ...[armoire, ...args, "--data-dir", place("data"), "--quiet"],
    ]);
  const make = (to: string) => [
    ...["create", "--mirror", mirror, "--to", place(to), "--license", "CC0-1.0", "--replace"],
  ];
  const tar = program("tar -c and zstd -3 of the bodies as files", [
    ...["sh", "-c", `tar -cf - -C ${place("bodies")} . | zstd -3 -q -f -o ${place("bodies.tar.zst")}`],
  ]);
  const create = own("snapshot create", "snapshot", ...make("catalogue.zip"));
  const withTables = own("snapshot create --tables", "snapshot", ...make("tables.zip"), "--tables");
  const verify = own("snapshot verify", "snapshot", "verify", place("catalogue.zip"));
  const load = own(
    "snapshot load",
    "snapshot",
    "load",
    place("catalogue.zip"),
    "--mirror",
    place("loaded.sqlite"),
  );
  const rebuild = own("mirror rebuild", "mirror", "rebuild", "--mirror", place("loaded.sqlite"));
  const backUp = own(
    "backup create",
    "backup",
    ...make("backup.zip").filter((arg) => !/licen|CC0/.test(arg)),
  );
  const programs = [tar, create, withTables, verify, load, rebuild, backUp];
  for (let round = 0; round < rounds; round++) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(place(`loaded.sqlite${suffix}`), { force: true });
    for (const one of programs) measure(one);
  }
  const ratio = (what: "cpu" | "elapsed", a: Program, b: Program) =>
    median(a[what].map((seconds, n) => seconds / (b[what][n] ?? Number.NaN)));
  const megabytes = (name: string) => statSync(place(name)).size / 1e6;
  const sizes = ["bodies.tar.zst", "catalogue.zip", "tables.zip", "backup.zip", "loaded.sqlite"];
  const peaks = [create, withTables, verify].map(({ peak }) => peak ?? Number.NaN);
  return {
    title: `A snapshot of ${formatCount(resources)} resources, mirror of ${statSync(mirror).size / 1e6} MB`,
    headings: ["", "processor s", "elapsed s", "peak MB"],
    rows: [
      ...programs.map(({ name, cpu, elapsed, peak }) => [
        ...[name, median(cpu).toFixed(2), median(elapsed).toFixed(2), peak === null ? "" : Math.round(peak)],
      ]),
      ...sizes.map((name) => [`${name}: ${megabytes(name).toFixed(1)} MB`, "", "", ""]),
    ],
    targets: [
      // Elapsed times count only on a quiet machine. tar and zstd are two processes.
      ...(["elapsed", "cpu"] as const).flatMap((what) => [
        isAtMost(
          `create ≤ ${maxRatios.create} × tar and zstd, ${names[what]}`,
          ratio(what, create, tar),
          maxRatios.create,
        ),
        isAtMost(
          `load ≤ ${maxRatios.load} × rebuild, ${names[what]}`,
          ratio(what, load, rebuild),
          maxRatios.load,
        ),
      ]),
      isAtMost(`MB of memory to create and verify ≤ ${maxMegabytes}`, Math.max(...peaks), maxMegabytes),
      isAtMost(`MB of the file ≤ ${maxFileMegabytes}`, megabytes("catalogue.zip"), maxFileMegabytes),
    ],
  };
}

/** @returns how many */
function writeBodies(mirror: string, folder: string): number {
  mkdirSync(folder);
  return readMirror(mirror, ({ db }) => {
    let count = 0;
    for (const body of readBodies(db)) writeFileSync(join(folder, `${++count}.json`), body);
    return count;
  });
}

const program = (name: string, command: readonly string[]): Program => ({
  ...{ name, command, cpu: [], elapsed: [], peak: null },
});

/** Bash tells the processor time of a process and of those that it starts. */
function measure(one: Program): void {
  const script = `TIMEFORMAT='%R %U %S'; time "$@"`;
  const { status, output, stderr } = spawnSync("bash", ["-c", script, "bash", ...one.command], {
    ...{ stdio: ["ignore", "ignore", "pipe", "pipe"], encoding: "utf8" },
    env: { ...process.env, ...readLauncherVariables() },
  });
  if (status !== 0) throw new Error(`${one.name} ended with ${status}: ${stderr}`);
  const [elapsed = "", user, system] = stderr.trim().split("\n").at(-1)?.split(" ") ?? [];
  one.elapsed.push(Number(elapsed));
  one.cpu.push(Number(user) + Number(system));
  const mebibytes = output[3];
  if (mebibytes) one.peak = Math.max(one.peak ?? 0, (Number(mebibytes) * 2 ** 20) / 1e6);
}

const isAtMost = (target: string, value: number, max: number): Target => ({
  target,
  measured: value < 10 ? value.toFixed(2) : value.toFixed(0),
  isMet: value <= max,
});
