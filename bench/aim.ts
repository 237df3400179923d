/** Prints the tables of benchmarks, and targets with measured values. */
import { formatTable } from "../src/cli/terminal/text-table.ts";

/** A target and the measured value. */
export interface Aim {
  readonly aim: string;
  readonly reached: string;
  readonly isReached: boolean;
}

/** The result of one part of a suite: a table, and targets with measured values. */
export interface Findings {
  readonly title: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly aims: readonly Aim[];
}

/** `1,234` */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Runs the parts in sequence, prints the table of each, and then the targets. */
export async function printFindings(
  print: (text: string) => void,
  parts: readonly (() => Findings | Promise<Findings>)[],
): Promise<void> {
  const aims: Aim[] = [];
  for (const measure of parts) {
    const startedAt = performance.now();
    const findings = await measure();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    print(`${findings.title} (${seconds} s)\n\n${formatTable(findings.headings, findings.rows)}\n`);
    aims.push(...findings.aims);
  }
  print(
    formatTable(
      ["aim", "reached", ""],
      aims.map(({ aim, reached, isReached }) => [aim, reached, isReached ? "yes" : "no"]),
    ),
  );
}
