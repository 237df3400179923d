import type Database from "better-sqlite3";
import type { Cell } from "../../../schema/fields.ts";
import { QueryError } from "./errors.ts";
import type { QueryParameters } from "./query-process.ts";

export type BoundValues = readonly Cell[] | Readonly<Record<string, Cell>>;

/**
 * The values to execute a statement with: a list, or values by name. Whole numbers become integers.
 * @param probe the same statement prepared a second time; it cannot be used afterwards
 * @throws QueryError `parameters`, naming the missing or unknown parameters
 */
export function bindParameters(probe: Database.Statement, parameters: QueryParameters): BoundValues {
  if (isList(parameters)) return parameters.map(toInteger);
  const names = namesIn(probe);
  const missing = names.filter((name) => !Object.hasOwn(parameters, name));
  const unknown = Object.keys(parameters).filter((name) => !names.includes(name));
  const listOf = (some: readonly string[]) => some.map((name) => `:${name}`).join(", ");
  if (missing.length > 0) {
    const hint = "Give each one as -p NAME=VALUE.";
    throw new QueryError("parameters", `These parameters have no value: ${listOf(missing)}.`, hint);
  }
  if (unknown.length > 0) {
    const hint =
      names.length === 0 ? "The statement has no parameters." : `Its parameters: ${listOf(names)}.`;
    throw new QueryError("parameters", `The statement has no such parameters: ${listOf(unknown)}.`, hint);
  }
  return Object.fromEntries(names.map((name) => [name, toInteger(parameters[name] ?? null)]));
}

/** Only SQLite can tell the parameters of a statement, so a proxy records which values it reads. */
function namesIn(statement: Database.Statement): string[] {
  const names = new Set<string>();
  const recorder = new Proxy(
    {},
    {
      // Not what objects inherit: a parameter may be called `constructor` or `__proto__`.
      get: () => null,
      getOwnPropertyDescriptor(_target, name) {
        names.add(String(name));
        return { value: null, configurable: true };
      },
    },
  );
  try {
    statement.bind(recorder);
  } catch (error) {
    // A RangeError, not an SqliteError: all named parameters are bound, and others have no value.
    if (!(error instanceof RangeError)) throw error;
    throw new QueryError(
      "parameters",
      "The statement has parameters without a name (?).",
      "Write them as :NAME, and give each one as -p NAME=VALUE.",
    );
  }
  return [...names];
}

function isList(parameters: QueryParameters): parameters is readonly Cell[] {
  return Array.isArray(parameters);
}

/** better-sqlite3 binds every number as REAL, and `5.0 || 'x'` surprises a user who gave 5. */
function toInteger(cell: Cell): Cell {
  return Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell as number) : cell;
}
