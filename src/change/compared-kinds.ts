/**
 * Decides which kinds and fields of two states are compared: those that both have. An export may hold only some tables;
 * that does not mean that the others are gone.
 */
import { entityTables } from "../../schema/entities/entity-tables.ts";
import { measurement } from "../../schema/entities/measurement.ts";
import { ChangeError } from "./errors.ts";

export interface ComparedKind {
  readonly name: string;
  /** Compared columns of the kind's own table, in order; null if the kind has only lists. */
  readonly columns: readonly string[] | null;
  readonly lists: readonly ComparedList[];
  /** The columns, then the lists. */
  readonly fields: readonly string[];
  readonly hasTombstones: boolean;
  /** Whether both states have all its fields. If not, resources that look the same may still differ. */
  readonly isWhole: boolean;
}

export interface ComparedList {
  readonly field: string;
  readonly table: string;
  readonly columns: readonly string[];
}

export interface ComparedKinds {
  readonly kinds: readonly ComparedKind[];
  /** Tables, and fields as `table.field`, that only one of the two states has. */
  readonly notCompared: readonly string[];
}

interface TableColumns {
  readonly name: string;
  readonly columns: readonly string[];
}

/** The key, the tombstone mark, and the mirror's own bookkeeping. */
const bookkeepingFields = new Set(["href", "first_seen_at", "checked_at", "gone_at", "confirmed"]);

const candidates = [
  ...entityTables.map(({ table, lists }) => ({ name: table, hasOwnTable: true, lists })),
  {
    name: measurement.table,
    hasOwnTable: false,
    lists: [{ ...measurement, field: `${measurement.table}s` }],
  },
];

/** @throws ChangeError `not-comparable` if the two have no table in common */
export function compareKinds(a: readonly TableColumns[], b: readonly TableColumns[]): ComparedKinds {
  const notCompared = new Set<string>();
  const kinds = candidates.flatMap((candidate): ComparedKind[] => {
    const { name, hasOwnTable } = candidate;
    const leftOutBefore = notCompared.size;
    const columns = hasOwnTable ? commonColumns(name) : null;
    if (hasOwnTable && columns === null) return [];
    const lists = candidate.lists.flatMap(({ field, table, columns: listed }) => {
      const common = commonColumns(table);
      return common === null ? [] : [{ field, table, columns: listed.filter((c) => common.includes(c)) }];
    });
    if (!hasOwnTable && lists.length === 0) return [];
    const own = columns?.filter((column) => !bookkeepingFields.has(column)) ?? null;
    const fields = [...(own ?? []), ...lists.map(({ field }) => field)];
    const hasTombstones = columns?.includes("gone_at") ?? false;
    const isWhole = notCompared.size === leftOutBefore && lists.length === candidate.lists.length;
    return [{ name, columns: own, lists, fields, hasTombstones, isWhole }];
  });
  if (kinds.length > 0) return { kinds, notCompared: [...notCompared] };
  const names = [a, b].map((tables) => tables.map(({ name }) => name).join(", ") || "none");
  throw new ChangeError(
    "not-comparable",
    `The two have no table in common: ${names.join("; ")}.`,
    "Compare two states of the catalogue, or two of an account.",
  );

  function commonColumns(name: string): readonly string[] | null {
    const [before, after] = [a, b].map((tables) => tables.find((table) => table.name === name)?.columns);
    if (before === undefined && after === undefined) return null;
    if (before === undefined || after === undefined) {
      notCompared.add(name);
      return null;
    }
    const common = before.filter((column) => after.includes(column));
    for (const column of [...before, ...after]) {
      if (!common.includes(column) && !bookkeepingFields.has(column)) notCompared.add(`${name}.${column}`);
    }
    return common;
  }
}
