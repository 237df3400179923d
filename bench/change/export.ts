/** Exports of past runs, compared with an export of the present. */
import { join } from "node:path";
import { exportMirror } from "../../exports/export-mirror.ts";
import type { Point } from "../../src/mirror/points/point.ts";
import { median } from "../median.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";

const rounds = 5;
const maxRatio = 1.5;

/** @param runs number of runs of the mirror */
export async function benchExport(file: string, folder: string, runs: number): Promise<BenchmarkResult> {
  const states: readonly (readonly [string, Point | null])[] = [
    ["the present", null],
    [`as of run ${runs - 1}`, { kind: "run", run: runs - 1 }],
    [`as of run ${Math.ceil(runs / 2)}`, { kind: "run", run: Math.ceil(runs / 2) }],
    ["as of run 1", { kind: "run", run: 1 }],
  ];
  const times = states.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, asOf]] of states.entries()) {
      const startedAt = performance.now();
      await exportMirror({
        ...{ file, out: join(folder, "export"), formats: ["csv"], tables: [], raw: false, toolVersion: "0" },
        ...(asOf && { asOf }),
      });
      times[index]?.push(performance.now() - startedAt);
    }
  }
  const medians = times.map(median);
  const [present = Number.NaN] = medians;
  const slowest = Math.max(...medians.slice(1)) / present;
  return {
    title: "Export as CSV",
    headings: ["", "median ms", "÷ the present"],
    rows: states.map(([name], index) => [
      name,
      formatCount(Math.round(medians[index] ?? Number.NaN)),
      ((medians[index] ?? Number.NaN) / present).toFixed(2),
    ]),
    targets: [
      {
        target: `export as of a run ≤ ${maxRatio} × one of the present`,
        measured: slowest.toFixed(2),
        isMet: slowest <= maxRatio,
      },
    ],
  };
}
