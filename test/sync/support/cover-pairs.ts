/** A pairwise covering array: few rows in which every two values of different parameters occur together. */

/** Each parameter with its values. */
export type Parameters = Readonly<Record<string, readonly unknown[]>>;

export type Row<P extends Parameters> = { readonly [Name in keyof P]: P[Name][number] };

/** The same parameters give the same rows. Greedy: each row begins with a missing pair and adds what covers the most. */
export function coverPairs<P extends Parameters>(parameters: P): Row<P>[] {
  const names = Object.keys(parameters);
  const missing = new Map(pairsOf(parameters).map((pair) => [keyOf(pair), pair] as const));
  const rows: Row<P>[] = [];
  for (let [next] = missing.values(); next !== undefined; [next] = missing.values()) {
    const row = new Map<string, number>(next);
    for (const name of names) if (!row.has(name)) row.set(name, bestValue(name, row));
    for (const pair of pairsIn([...row])) missing.delete(keyOf(pair));
    const values = names.map((name) => [name, parameters[name]?.[row.get(name) ?? 0]] as const);
    rows.push(Object.fromEntries(values) as Row<P>);
  }
  return rows;

  /** The index of the value that covers the most missing pairs with the row; of equal ones, another one in each row. */
  function bestValue(name: string, row: ReadonlyMap<string, number>): number {
    const { length = 0 } = parameters[name] ?? [];
    const inTurn = Array.from({ length }, (_, index) => (index + rows.length) % length);
    const gains = inTurn.map(
      (index) => [...row].filter((cell) => missing.has(keyOf([cell, [name, index]]))).length,
    );
    return inTurn[gains.indexOf(Math.max(...gains))] ?? 0;
  }
}

/** A parameter with the index of its value. */
type Cell = readonly [name: string, index: number];
type Pair = readonly [Cell, Cell];

const keyOf = (pair: Pair): string => JSON.stringify([...pair].sort(([a], [b]) => (a < b ? -1 : 1)));

const pairsIn = (cells: readonly Cell[]): Pair[] =>
  cells.flatMap((one, n) => cells.slice(n + 1).map((other): Pair => [one, other]));

function pairsOf(parameters: Parameters): Pair[] {
  const names = Object.keys(parameters);
  const cellsOf = (name: string): Cell[] =>
    [...(parameters[name]?.keys() ?? [])].map((index) => [name, index]);
  return names.flatMap((one, n) =>
    names
      .slice(n + 1)
      .flatMap((other) => cellsOf(one).flatMap((cell) => cellsOf(other).map((last): Pair => [cell, last]))),
  );
}
