/** Turns a result with one row for each pair of values into a matrix. */
import type { Row } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import type { QueryResult } from "../sql/run-query.ts";
import type { Matrix } from "./question.ts";

/**
 * Rows are sorted by `down`, with null last; columns are in order of appearance, with that of null last. A pair without a row
 * is an empty cell.
 * @throws QueryError, or the signal's reason
 */
export async function toMatrix(result: QueryResult, matrix: Matrix, maxRows: number): Promise<QueryResult> {
  const { down, across, value, nullName } = matrix;
  const [downAt, acrossAt, valueAt] = [down, across, value].map((name) => result.columns.indexOf(name));
  const names = new Set<Cell>();
  const lines = new Map<Cell, Map<Cell, Cell>>();
  for await (const row of result.rows) {
    const [place = null, name = null, cell = null] = [downAt, acrossAt, valueAt].map((at) => row[at ?? -1]);
    names.add(name);
    lines.set(place, (lines.get(place) ?? new Map()).set(name, cell));
  }
  const ordered = [...names].sort((a, b) => Number(a === null) - Number(b === null));
  const all: readonly Row[] = [...lines]
    .sort(([a], [b]) => compareCells(a, b))
    .map(([place, cells]) => [place, ...ordered.map((name) => cells.get(name) ?? null)]);
  const rows = all.slice(0, maxRows);
  async function* readRows() {
    yield* rows;
  }
  async function* readBatches() {
    yield rows;
  }
  return {
    columns: [down, ...ordered.map((name) => (name === null ? nullName : String(name)))],
    coverage: result.coverage,
    batches: readBatches(),
    rows: readRows(),
    maxRows,
    isCut: all.length > maxRows,
  };
}

function compareCells(a: Cell, b: Cell): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : a > b ? 1 : 0;
}
