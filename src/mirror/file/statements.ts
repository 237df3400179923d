/**
 * Typed SQL: a Kysely query is compiled once into a prepared statement of better-sqlite3. Parameters have names, rows have
 * the types that `schema/tables.ts` declares, and constants are written into the text, where SQLite's planner sees them.
 */
import type { RunResult } from "better-sqlite3";
import { type Compilable, compileText } from "../queries/query-builder.ts";
import type { Connection } from "./connection.ts";

type Arguments<Parameters> = keyof Parameters extends never ? [] : [Parameters];

/** In the bundled program, all are texts already (`deploy/statement-texts.ts`). */
type Builder<Parameters, Row> = ((p: Parameters) => Compilable<Row>) | (string & { readonly compiled: true });

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

/**
 * A statement for a query, prepared when it is first executed. The type of `build`'s argument names the parameters:
 *
 *     const select = prepare(db, (p: { id: number }) => q.selectFrom("_resource").select("url").where("id", "=", p.id));
 *     select.get({ id: 1 })?.url;
 */
export function prepare<Parameters extends object, Row>(
  db: Connection,
  build: Builder<Parameters, Row>,
): Statement<Parameters, Row> {
  return new LaterStatement(() => db.prepare(toText(build)) as unknown as Statement<Parameters, Row>);
}

/** As `prepare`, for queries of one column: the rows are its values. */
export function prepareColumn<Parameters extends object, Row>(
  db: Connection,
  build: Builder<Parameters, Row>,
): Statement<Parameters, Row[keyof Row]> {
  return new LaterStatement(
    () => db.prepare(toText(build)).pluck() as unknown as Statement<Parameters, Row[keyof Row]>,
  );
}

function toText<Parameters extends object>(build: Builder<Parameters, unknown>): string {
  return typeof build === "string" ? build : compileText(build);
}
