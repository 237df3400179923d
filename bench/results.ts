/** Prints the tables of benchmarks, and their targets with the measured values. */
import { formatTable } from "../src/cli/terminal/table/text-table.ts";

export interface Target {
  readonly target: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** The result of one part of a suite. */
export interface BenchmarkResult {
  readonly title: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly targets: readonly Target[];
}

/** `1,234` */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Runs the parts in sequence, prints the table of each, and then all targets. */
export async function printResults(
  print: (text: string) => void,
  parts: readonly (() => BenchmarkResult | Promise<BenchmarkResult>)[],
): Promise<void> {
  const targets: Target[] = [];
  for (const measure of parts) {
    const startedAt = performance.now();
    const result = await measure();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    print(`${result.title} (${seconds} s)\n\n${formatTable(result.headings, result.rows)}\n`);
    targets.push(...result.targets);
  }
  print(
    formatTable(
      ["target", "measured", "met"],
      targets.map(({ target, measured, isMet }) => [target, measured, isMet ? "yes" : "no"]),
    ),
  );
}
