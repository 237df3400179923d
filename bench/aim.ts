/** What benchmarks tell: what was aimed at, and what was reached. */
import { formatTable } from "../src/cli/terminal/text-table.ts";

/** What was aimed at, and what was reached. */
export interface Aim {
  readonly aim: string;
  readonly reached: string;
  readonly isReached: boolean;
}

/** What one part of the suite gives: a table of its own, and how it compares with the aims. */
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

/** Measures one part after the other, prints each as it is known, and then how all of it compares with the aims. */
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
