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
