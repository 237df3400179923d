import type Database from "better-sqlite3";
import type { Cell } from "../../../schema/fields.ts";
import { QueryError } from "./errors.ts";
import type { QueryParameters } from "./query-process.ts";

export type BoundValues = readonly Cell[] | Readonly<Record<string, Cell>>;

/**
 * What a statement is run with: a list in order, or values by name; whole numbers as integers.
 * @param probe the same statement once more, which is used up
 * @throws QueryError `parameters` that names those that lack a value and those that the statement does not have
 */
export function bindParameters(probe: Database.Statement, parameters: QueryParameters): BoundValues {
  if (isList(parameters)) return parameters.map(toInteger);
  const names = namesIn(probe);
  const missing = names.filter((name) => !Object.hasOwn(parameters, name));
  const unknown = Object.keys(parameters).filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new QueryError(
      "parameters",
      `no value is given for ${missing.map((name) => `:${name}`).join(", ")}`,
      "give each one as -p name=value",
    );
  }
  if (unknown.length > 0) {
    const hint = names.length === 0 ? "it has none" : `it has ${names.map((name) => `:${name}`).join(", ")}`;
    throw new QueryError("parameters", `the statement has no parameter called ${unknown.join(", ")}`, hint);
  }
  return Object.fromEntries(names.map((name) => [name, toInteger(parameters[name] ?? null)]));
}

/** Only SQLite knows for certain what is a parameter, so it is watched while it asks for their values. */
function namesIn(statement: Database.Statement): string[] {
  const names = new Set<string>();
  const watched = new Proxy(
    {},
    {
      getOwnPropertyDescriptor(_target, name) {
        names.add(String(name));
        return { value: null, configurable: true };
      },
    },
  );
  try {
    statement.bind(watched);
  } catch (error) {
    // It is no SqliteError: those with a name were all asked for, and there are others.
    if (!(error instanceof RangeError)) throw error;
    throw new QueryError(
      "parameters",
      "the statement has parameters without a name (?)",
      "write them as :name, and give each one as -p name=value",
    );
  }
  return [...names];
}

function isList(parameters: QueryParameters): parameters is readonly Cell[] {
  return Array.isArray(parameters);
}

/** better-sqlite3 makes every number a REAL, and `5.0 || 'x'` is not what who gave a 5 expects. */
function toInteger(cell: Cell): Cell {
  return Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell as number) : cell;
}
