/**
 * Typed SQL: a Kysely query is compiled once into a prepared statement of better-sqlite3. Parameters have names, rows have
 * the types that `schema/tables.ts` declares, and constants are written into the text, where SQLite's planner sees them.
 */
import type { RunResult } from "better-sqlite3";
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

type Arguments<Parameters> = keyof Parameters extends never ? [] : [Parameters];

/** What is used of better-sqlite3's statements. */
export interface Statement<Parameters, Row> {
  get(...parameters: Arguments<Parameters>): Row | undefined;
  all(...parameters: Arguments<Parameters>): Row[];
  iterate(...parameters: Arguments<Parameters>): IterableIterator<Row>;
  run(...parameters: Arguments<Parameters>): RunResult;
}

/** Compiled and prepared when it is first executed: most commands and syncs execute few of the statements of a mirror's parts. */
class LaterStatement<Parameters, Row> implements Statement<Parameters, Row> {
  readonly #prepare: () => Statement<Parameters, Row>;
  #prepared: Statement<Parameters, Row> | undefined;

  constructor(prepare: () => Statement<Parameters, Row>) {
    this.#prepare = prepare;
  }

  get(...parameters: Arguments<Parameters>): Row | undefined {
    return this.#ready().get(...parameters);
  }

  all(...parameters: Arguments<Parameters>): Row[] {
    return this.#ready().all(...parameters);
  }

  iterate(...parameters: Arguments<Parameters>): IterableIterator<Row> {
    return this.#ready().iterate(...parameters);
  }

  run(...parameters: Arguments<Parameters>): RunResult {
    return this.#ready().run(...parameters);
  }

  #ready(): Statement<Parameters, Row> {
    this.#prepared ??= this.#prepare();
    return this.#prepared;
  }
}

const parameters = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

/**
 * A statement for a query, prepared when it is first executed. The type of `build`'s argument names the parameters:
 *
 *     const select = prepare(db, (p: { id: number }) => q.selectFrom("_resource").select("url").where("id", "=", p.id));
 *     select.get({ id: 1 })?.url;
 */
export function prepare<Parameters extends object, Row>(
  db: Connection,
  build: (p: Parameters) => Compilable<Row>,
): Statement<Parameters, Row> {
  return new LaterStatement(() => db.prepare(toText(build)) as unknown as Statement<Parameters, Row>);
}

/** As `prepare`, for queries of one column: the rows are its values. */
export function prepareColumn<Parameters extends object, Row>(
  db: Connection,
  build: (p: Parameters) => Compilable<Row>,
): Statement<Parameters, Row[keyof Row]> {
  return new LaterStatement(
    () => db.prepare(toText(build)).pluck() as unknown as Statement<Parameters, Row[keyof Row]>,
  );
}

function toText<Parameters extends object>(build: (p: Parameters) => Compilable<unknown>): string {
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
