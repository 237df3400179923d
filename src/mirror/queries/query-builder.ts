/** Builds typed queries and compiles them to SQL. All of it needs Kysely, which the bundled program rarely loads. */
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

/** Stands for a value until a statement is executed. */
class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

class StatementCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    // SQLite looks at the value of a bare parameter when it plans `column = :name`, so it would plan and compile the statement
    // again at each execution. The sign does not change the value. It excludes partial indexes with `column = constant`, and the
    // index of a column for LIKE and GLOB: no statement here needs one with a parameter.
    if (value instanceof Parameter) this.append(`+:${value.name}`);
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
export interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

const parameters = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

export function compileText<Parameters extends object>(
  build: (p: Parameters) => Compilable<unknown>,
): string {
  return build(parameters as Parameters).compile().sql;
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

/** An SQL expression in milliseconds since 1970, as ISO 8601. */
export const isoTime = <Time extends string | null>(millis: string): RawBuilder<Time> =>
  sql<Time>`${sql.raw(isoTimeOf(millis))}`;
