/**
 * Typed SQL: a Kysely query is compiled once into a prepared statement of better-sqlite3. Parameters have names, rows have
 * the types that `schema/tables.ts` declares, and constants are written into the text, where SQLite's planner sees them.
 */
import {
  type AliasedRawBuilder,
  type CompiledQuery,
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { isoTimeOf, type MirrorTables } from "../../../schema/tables.ts";
import type { Connection } from "./connection.ts";

/** Stands for a value until a statement is executed. */
class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

class StatementCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Parameter) this.append(`:${value.name}`);
    else this.appendImmediateValue(value);
  }
}

/** Builds queries over these tables; it never executes one. */
export function queryBuilder<Tables>(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => new DummyDriver(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new StatementCompiler(),
    },
  });
}

/** Builds queries over a mirror's tables. */
export const q = queryBuilder<MirrorTables>();

/** Any builder that Kysely can compile to a query with these rows. */
interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

export type Statement<Parameters, Row> = keyof Parameters extends never
  ? import("better-sqlite3").Statement<[], Row>
  : import("better-sqlite3").Statement<[Parameters], Row>;

const parameters = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

/**
 * Compiles a query and prepares it. The type of `build`'s argument names the parameters:
 *
 *     const select = prepare(db, (p: { id: number }) => q.selectFrom("_resource").select("url").where("id", "=", p.id));
 *     select.get({ id: 1 })?.url;
 */
export function prepare<Parameters extends object, Row>(
  db: Connection,
  build: (p: Parameters) => Compilable<Row>,
): Statement<Parameters, Row> {
  const { sql: text } = build(parameters as Parameters).compile();
  return db.prepare(text) as unknown as Statement<Parameters, Row>;
}

/** As `prepare`, at the first call of the result: commands that need few of many statements start sooner. */
export function prepareLater<Parameters extends object, Row>(
  db: Connection,
  build: (p: Parameters) => Compilable<Row>,
): () => Statement<Parameters, Row> {
  let statement: Statement<Parameters, Row> | undefined;
  return () => {
    statement ??= prepare(db, build);
    return statement;
  };
}

/** The ids of a JSON array, for `in`: `where("id", "in", idsIn(p.ids))`. */
export function idsIn(json: string): RawBuilder<number> {
  return sql<number>`(select value from json_each(${json}))`;
}

/** As `idsIn`, for texts. */
export function textsIn<Text extends string = string>(json: string): RawBuilder<Text> {
  return sql<Text>`(select value from json_each(${json}))`;
}

/** The same ids as a table, for `selectFrom(idTable(p.ids))`: `j.value`. It fixes the order of a join, which `in` does not. */
export function idTable(json: string): AliasedRawBuilder<{ value: number }, "j"> {
  return sql<{ value: number }>`json_each(${json})`.as("j");
}

/** As `prepare`, for queries of one column: the rows are its values. */
export function prepareColumn<Parameters extends object, Row>(
  db: Connection,
  build: (p: Parameters) => Compilable<Row>,
): Statement<Parameters, Row[keyof Row]> {
  return prepare(db, build).pluck() as unknown as Statement<Parameters, Row[keyof Row]>;
}

/** An SQL expression in milliseconds since 1970, as ISO 8601. */
export const isoTime = <Time extends string | null>(millis: string): RawBuilder<Time> =>
  sql<Time>`${sql.raw(isoTimeOf(millis))}`;
