/**
 * What is compared of two states: the kinds and fields that both have. An export may hold some tables only, and that
 * the others are not in it does not mean that they are gone.
 */
import { measurement } from "../../schema/entities/measurement.ts";
import { entities } from "../../schema/entities.ts";
import { ChangeError } from "./errors.ts";
import type { DiffSource } from "./sources.ts";

export interface ComparedKind {
  readonly name: string;
  /** Of its own table, in order; null where a resource has a list and nothing else. */
  readonly columns: readonly string[] | null;
  readonly lists: readonly ComparedList[];
  /** The columns, then the lists. */
  readonly fields: readonly string[];
  readonly hasTombstones: boolean;
  /** Whether both have all of it: otherwise, what is the same in them may have changed all the same. */
  readonly isWhole: boolean;
}

export interface ComparedList {
  readonly field: string;
  readonly table: string;
  readonly columns: readonly string[];
}

export interface Comparison {
  readonly kinds: readonly ComparedKind[];
  /** Tables, and fields as `table.field`, that only one of the two has. */
  readonly leftOut: readonly string[];
}

/** Bookkeeping, and what is told apart from the fields: the key, and whether it is gone. */
const notCompared = new Set(["href", "first_seen_at", "checked_at", "gone_at"]);

const candidates = [
  ...entities.map(({ table, lists }) => ({ name: table, ownTable: true, lists })),
  {
    name: measurement.table,
    ownTable: false,
    lists: [{ ...measurement, field: `${measurement.table}s` }],
  },
];

/** @throws ChangeError `not-comparable` where the two have no table in common */
export function compareKinds(a: DiffSource, b: DiffSource): Comparison {
  const leftOut = new Set<string>();
  const kinds = candidates.flatMap((candidate): ComparedKind[] => {
    const { name, ownTable } = candidate;
    const leftOutBefore = leftOut.size;
    const columns = ownTable ? commonColumns(name) : null;
    if (ownTable && columns === null) return [];
    const lists = candidate.lists.flatMap(({ field, table, columns: listed }) => {
      const common = commonColumns(table);
      return common === null ? [] : [{ field, table, columns: listed.filter((c) => common.includes(c)) }];
    });
    if (!ownTable && lists.length === 0) return [];
    const own = columns?.filter((column) => !notCompared.has(column)) ?? null;
    const fields = [...(own ?? []), ...lists.map(({ field }) => field)];
    const hasTombstones = columns?.includes("gone_at") ?? false;
    const isWhole = leftOut.size === leftOutBefore && lists.length === candidate.lists.length;
    return [{ name, columns: own, lists, fields, hasTombstones, isWhole }];
  });
  if (kinds.length > 0) return { kinds, leftOut: [...leftOut] };
  throw new ChangeError(
    "not-comparable",
    `No table is in both: ${[a, b].map(({ tables }) => tables.map(({ name }) => name).join(", ") || "none").join("; ")}.`,
    "Compare two states of the catalogue, or two of an account.",
  );

  function commonColumns(name: string): readonly string[] | null {
    const [one, other] = [a, b].map(({ tables }) => tables.find((table) => table.name === name)?.columns);
    if (one === undefined && other === undefined) return null;
    if (one === undefined || other === undefined) {
      leftOut.add(name);
      return null;
    }
    const common = one.filter((column) => other.includes(column));
    for (const column of [...one, ...other]) {
      if (!common.includes(column) && !notCompared.has(column)) leftOut.add(`${name}.${column}`);
    }
    return common;
  }
}
