/** From the start of `armoire serve` to its first page, in turn with an empty Node program. */
import { execFileSync } from "node:child_process";
import { median } from "../median.ts";
import type { BenchmarkResult } from "../results.ts";
import { startServing } from "./processes.ts";

const rounds = 9;
const maxRatio = 20;

export async function benchStartOfServe(file: string): Promise<BenchmarkResult> {
  const [empty, first]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    execFileSync(process.execPath, ["-e", ""]);
    empty.push(performance.now() - startedAt);
    await using serving = await startServing(file);
    first.push(serving.startMillis);
  }
  const ratio = median(first) / median(empty);
  return {
    title: `Start: median of ${rounds}`,
    headings: ["program", "ms"],
    rows: [
      ["empty Node program", median(empty).toFixed(0)],
      ["armoire serve, until the first page", median(first).toFixed(0)],
    ],
    targets: [
      {
        target: `the first page at most ${maxRatio} × an empty program`,
        measured: ratio.toFixed(1),
        isMet: ratio <= maxRatio,
      },
    ],
  };
}
