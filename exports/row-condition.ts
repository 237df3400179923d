/**
 * Chooses rows of one table by a condition in SQL. It is the user's own text, so it is evaluated in the process of queries,
 * with their limits. In: an open mirror and the condition. Out: a temporary table with the keys of the rows.
 */
import type { Point } from "../src/mirror/points/point.ts";
import { chosenKeys, type PublicTable } from "../src/mirror/public-tables.ts";
import type { MirrorReader } from "../src/mirror/reader.ts";
import { ExportError } from "./errors.ts";
import type { Row } from "./formats/table.ts";

/** Runs one SELECT on a mirror. `runQuery` of this library is one. */
export type RunSelect = (select: {
  readonly file: string;
  readonly sql: string;
  readonly asOf?: Point;
  readonly signal?: AbortSignal;
}) => Promise<{ readonly rows: AsyncIterable<Row> }>;

export interface RowCondition {
  /** Over the columns of the table, as after WHERE. */
  readonly sql: string;
  readonly run: RunSelect;
}

/** Strings, quoted names and comments are tokens; so are words, and any other character by itself. */
const tokens =
  /'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|`[^`]*(?:``[^`]*)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\/\*|[\w$\u0080-\uffff]+|[\s\S]/g;
const unclosed: readonly string[] = ["'", '"', "`", "[", "/*"];

/**
 * Refuses text that would end the condition, so that what follows it would be another part of the statement.
 * @throws ExportError `bad-condition`
 */
export function requireCondition(sql: string): void {
  let depth = 0;
  for (const [token] of sql.matchAll(tokens)) {
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (depth < 0) throw badCondition(sql, "it closes a parenthesis that is not open");
    if (token === ";") throw badCondition(sql, "it has a semicolon");
    if (unclosed.includes(token)) throw badCondition(sql, `${token} is not closed`);
    if (/^[?:@$#]/.test(token)) throw badCondition(sql, "it has a parameter, which has no value");
  }
  if (depth > 0) throw badCondition(sql, "a parenthesis is not closed");
}

function badCondition(sql: string, reason: string): ExportError {
  return new ExportError(
    "bad-condition",
    `${JSON.stringify(sql)} is not a condition: ${reason}.`,
    "Give one as after WHERE, for example: band >= 75 and gone_at is null.",
  );
}

/** With more, the mirror changes faster than the condition can be evaluated. */
const maxAttempts = 5;

/**
 * Begins a read transaction, and fills the temporary table with the keys of the rows that meet the condition in it.
 * @throws ExportError `bad-condition`, `changing`; the errors of the query, or the signal's reason
 */
export async function beginWithCondition(
  { db, file, asOf }: MirrorReader,
  table: PublicTable,
  { sql, run }: RowCondition,
  signal: AbortSignal | undefined,
): Promise<void> {
  requireCondition(sql);
  // The line break ends a comment.
  const select = `select ${table.key} from ${table.name} where (\n${sql}\n)`;
  const version = () => db.pragma("data_version", { simple: true });
  db.exec(`create temp table ${chosenKeys} (key text primary key) without rowid`);
  const insert = db.prepare<[unknown]>(`insert or ignore into temp.${chosenKeys} values (?)`);
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const before = version();
    db.exec(`delete from temp.${chosenKeys}`);
    const { rows } = await run({
      ...{ file, sql: select },
      ...(asOf && { asOf: { kind: "run", run: asOf.run } as const }),
      ...(signal && { signal }),
    });
    for await (const [key] of rows) insert.run(key);
    db.exec("begin");
    // The same, unless another connection has committed since.
    if (version() === before) return;
    db.exec("rollback");
  }
  throw new ExportError(
    "changing",
    "The mirror changes while --where is evaluated.",
    "Wait for the sync, or export its state before it: --as-of latest.",
  );
}
