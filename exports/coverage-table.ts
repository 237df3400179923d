/** How whole the tables of an SQLite file are, as one more table of it. */
import type { Coverage } from "../src/mirror/runs/coverage.ts";
import { describeGaps } from "../src/mirror/runs/describe-coverage.ts";
import type { FittedColumn, FittedTable } from "./formats/fitted-types.ts";

const counts = ["known", "held", "due", "failed", "gone"] as const;

const columns: readonly FittedColumn[] = [
  { name: "kind", type: "text", isMixed: false },
  ...counts.map((name) => ({ name, type: "integer" as const, isMixed: false })),
  { name: "missing", type: "text", isMixed: false },
];

/** A row for each kind. Without times of checks: the same state has the same rows. */
function coverageTable({ kinds }: Coverage): FittedTable {
  const rows = kinds.map((kind) => [
    kind.kind,
    ...counts.map((count) => BigInt(kind[count])),
    describeGaps(kind).join("; ") || null,
  ]);
  return {
    columns,
    table: { name: "coverage", columns: columns.map(({ name }) => name), rows: () => rows },
  };
}

export const withCoverage = (
  tables: readonly FittedTable[],
  coverage: Coverage | null,
): readonly FittedTable[] => (coverage === null ? tables : [...tables, coverageTable(coverage)]);
