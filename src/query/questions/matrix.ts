/** Turns rows with one for each pair of values into a matrix. */
import type { Row } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import type { QueryResult } from "../sql/run-query.ts";
import type { Matrix } from "./question.ts";

/** @throws QueryError, or the signal's reason */
export async function toMatrix(result: QueryResult, matrix: Matrix, maxRows: number): Promise<QueryResult> {
  const given: Row[] = [];
  for await (const batch of result.batches) given.push(...batch);
  const { columns, rows: all } = pivot({ columns: result.columns, rows: given }, matrix);
  const rows = all.slice(0, maxRows);
  async function* readRows() {
    yield* rows;
  }
  async function* readBatches() {
    yield rows;
  }
  return {
    columns,
    tables: result.tables,
    get coverage() {
      return result.coverage;
    },
    emptyTables: result.emptyTables,
    lacksRelations: result.lacksRelations,
    prunedRuns: result.prunedRuns,
    batches: readBatches(),
    rows: readRows(),
    maxRows,
    isCut: all.length > maxRows,
    total: all.length > maxRows ? all.length : null,
  };
}

export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * Rows are sorted by `down`, with null last, unless they are ordered; columns are in order of appearance, with that of null
 * last. A pair without a row is an empty cell. The first of `down` is the first column, its others are the last ones.
 */
export function pivot(given: Rows, { down, across, value, nullName, isOrdered = false }: Matrix): Rows {
  const indexOf = (name: string) => given.columns.indexOf(name);
  const names = new Set<Cell>();
  const lines = new Map<string, { readonly place: Row; readonly cells: Map<Cell, Cell> }>();
  for (const row of given.rows) {
    const cellOf = (name: string): Cell => row[indexOf(name)] ?? null;
    const place = down.map(cellOf);
    const key = place.map((cell) => `${typeof cell} ${cell}`).join("\n");
    const line = lines.get(key) ?? { place, cells: new Map() };
    lines.set(key, line);
    // Such a row only says that there is a line.
    if (cellOf(across) === null && cellOf(value) === null) continue;
    names.add(cellOf(across));
    line.cells.set(cellOf(across), cellOf(value));
  }
  const ordered = [...names].sort((a, b) => Number(a === null) - Number(b === null));
  const rows = [...lines.values()]
    .sort((a, b) => (isOrdered ? 0 : compareRows(a.place, b.place)))
    .map(({ place: [first = null, ...others], cells }) => [
      first,
      ...ordered.map((name) => cells.get(name) ?? null),
      ...others,
    ]);
  const acrossNames = ordered.map((name) => (name === null ? nullName : String(name)));
  return { columns: [down[0], ...acrossNames, ...down.slice(1)], rows };
}

function compareRows(a: Row, b: Row): number {
  for (const [n, cell] of a.entries()) {
    const order = compareCells(cell, b[n] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareCells(a: Cell, b: Cell): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : a > b ? 1 : 0;
}
