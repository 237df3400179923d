/** `armoire query`: runs a read-only SQL statement or a named question in a child process. */
import { type Command, Option } from "commander";
import type { Cell } from "../../../../schema/fields.ts";
import { describeLostRevisions } from "../../../mirror/points/pruned-runs.ts";
import { openMirrorReader } from "../../../mirror/reader.ts";
import { formatRows } from "../../../presentation/numbers.ts";
import { isBooleanName, yesOrNo } from "../../../presentation/words.ts";
import { areasOf, type Question } from "../../../query/questions/question.ts";
import { findQuestion, listQuestions } from "../../../query/questions/questions.ts";
import { type QuestionResult, runQuestion } from "../../../query/questions/run-question.ts";
import { followHint, type QueryResult, runQuery } from "../../../query/sql/run-query.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import {
  addCsvFlags,
  type CsvFlags,
  collectParameter,
  readAnswerFormat,
  readCsvProfile,
  readStatement,
} from "../../flags/query-flags.ts";
import { formatQuestion, formatQuestions } from "../../format/data/questions.ts";
import {
  type FileFormat,
  fileFormats,
  printGapsOfQuery,
  printResult,
  truncationNotice,
} from "../../format/data/result.ts";
import { mirrorFileToRead, readableCatalogueBeside, withMirror } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

/** Includes the options of questions, whose names are only known at run time. */
interface QueryFlags extends AsOfFlags, CsvFlags, Readonly<Record<string, unknown>> {
  readonly file?: string;
  readonly format?: FileFormat;
  readonly parameter?: Readonly<Record<string, Cell>>;
  readonly list?: boolean;
  readonly out?: string;
  readonly maxRows: number;
  readonly timeout: number;
}

const questionOptions = new Map(
  listQuestions().flatMap(({ options }) => options.map(({ name, about }) => [name, about] as const)),
);

export function configure(command: Command, io: Io): void {
  command
    .argument("[sql]", "one SELECT statement, or @NAME for a named question")
    .option("--file <file>", "read the SQL from a file; - is standard input")
    .option("-p, --parameter <name=value>", "the value of :NAME in the SQL (repeatable)", collectParameter)
    .option("--list", "list the questions; with @NAME, show that one and its SQL")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(fileFormats)
        .default(undefined, "table, or the ending of --out"),
    )
    .option("--out <file>", "write the answer to a file; an earlier file is replaced")
    .option("--max-rows <n>", "stop after N rows", positiveNumber, 100_000)
    .option("--timeout <seconds>", "stop a statement that takes longer", positiveNumber, 60);
  addCsvFlags(command)
    .addOption(asOfOption())
    .showHelpAfterError(
      "`armoire query --help` explains the usage, `armoire query --list` the options of each question.",
    );
  for (const [name, about] of questionOptions)
    command.addOption(new Option(`--${name} <${name}>`, about).helpGroup("Options of questions:"));
  addHelp(command, {
    details: [
      "Runs in a child process that cannot write and can read no other file. The main tables are brand, model, size, relation, " +
        "known, coverage and recently_changed, and with --account user, bra and measurement; docs/schema.md describes all. With " +
        "--account, the tables of the service's catalogue mirror are there as catalogue.brand and so on, always at their latest " +
        "state. The questions are in docs/questions.md.",
      "A parameter value that is a number, true, false, null or a quoted string in JSON becomes that value; anything else is " +
        "text. Every parameter needs a value. With --as-of every table shows that state, except tables of the program's own " +
        "bookkeeping.",
      "Values are those of SQLite: a boolean is 1 or 0, and an object or list is JSON text. The exports of tables have real booleans " +
        "and objects.",
      "The function envelope(href) returns the body of a resource as the service sent it, as JSON text.",
      "On a terminal, a table fits its width: URLs and long texts are shortened, and href is left out where the other columns " +
        "need its place. If they still do not fit, each value has a line. What is longer than the screen is shown in the " +
        "program that PAGER names (default: less; empty: none).",
      "In CSV, text that spreadsheets run as a formula gets an apostrophe before it, as in exports, unless --exact is given.",
      "CSV, JSON and NDJSON are printed while rows are read; an error after that ends the output early, with its exit code. In " +
        "JSON and NDJSON a repeated column name gets a number. A table shows at most 1,000 characters of a cell. If " +
        "--max-rows or --limit cuts rows off, a notice on stderr says so.",
    ],
    examples: [
      'armoire query "select name, bra_count from brand order by 2 desc limit 10"',
      'armoire query "select * from coverage" --json',
      'armoire query "select name from model where is_discontinued = 1" --out old.csv',
      "armoire query @brand-sizes --brand comexim --out sizes.parquet",
      'armoire query "select * from size where band = :b" -p b=65 --format ndjson',
      "armoire query \"select href, envelope(href) ->> '$.body.type' from model\"",
      'armoire query "select count(*) from size" --as-of 2026-11-03',
      "armoire query --list",
      "armoire query @brand-sizes --brand comexim",
      "armoire query @models-in-range --system UK --band 28-30 --cup H-",
      "armoire query @size-coverage --system EU --brand comexim",
      "armoire query @measurements --account ada --out measurements.csv",
      'armoire query "select name, note from bra where gone_at is null" --account ada',
      'armoire query "select m.type from bra join catalogue.model m on m.href = model_href" --account ada',
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action(async (sql: string | undefined, flags: QueryFlags) => {
    const settings = readSettings(command, io);
    const format = readAnswerFormat(flags, settings);
    if (flags.list) await printList(sql, settings, io);
    else {
      const signal = flags.out === undefined ? null : interruptSignal(io, "the file was not written");
      const result = await execute(sql, flags, settings, io, signal);
      const counted = countRows(result);
      const isTable = format === "table" && flags.out === undefined;
      if (isTable && io.screen !== null && isQuestion(sql))
        await printResult(withWords(counted), format, "guarded", io);
      else await give(counted, format, flags, settings, io, signal);
      printGapsOfQuery(result.coverage, settings, io);
      if (!settings.quiet && result.prunedRuns > 0) io.err(`${describeLostRevisions(result.prunedRuns)}\n`);
      if (!settings.quiet && result.lacksRelations) io.err(`${followHint}\n`);
      if (!settings.quiet && io.hasReader()) printEmptiness(counted, result.ifEmpty ?? null, isTable, io);
      if (result.isCut && flags.out === undefined)
        truncationNotice(result, optionThatLimits(result, flags), settings, io);
    }
  });
}

const optionThatLimits = ({ maxRows }: Pick<QueryResult, "maxRows">, flags: QueryFlags): string =>
  maxRows < flags.maxRows ? "--limit" : "--max-rows";

async function give(
  result: CountedResult,
  format: FileFormat,
  flags: QueryFlags,
  settings: Settings,
  io: Io,
  signal: AbortSignal | null,
): Promise<void> {
  const csv = readCsvProfile(flags);
  const { out: path } = flags;
  if (path === undefined) {
    if (format !== "parquet" && format !== "sqlite") await printResult(result, format, csv, io);
    return;
  }
  // Loaded only here: most answers are printed.
  const { writeAnswer } = await import("../../format/data/answer-file.ts");
  const isPrivate = withMirror(settings, ({ identity }) => identity.area === "account");
  await writeAnswer(result, { path, format, csv, isPrivate, ...(signal && { signal }) });
  if (result.isCut)
    io.err(
      `Only the first ${result.count} rows are in the file; ${optionThatLimits(result, flags)} raises the limit.\n`,
    );
  if (!settings.quiet) io.err(`${formatRows(result.count)} written to ${path}\n`);
}

/** Why there is nothing to see. */
function printEmptiness(
  { count, emptyTables: { area, names } }: CountedResult,
  ifEmpty: string | null,
  isTable: boolean,
  io: Io,
): void {
  if (count === 0 && ifEmpty !== null) io.err(`${escapeControls(ifEmpty)}\n`);
  else if (count === 0 && isTable) io.err("No rows.\n");
  if (names.length === 0) return;
  const tables = names.join(", ");
  io.err(
    area === "catalogue"
      ? `A mirror of the catalogue has no rows of ${tables}; --account NAME has a user's.\n`
      : `A mirror of an account has no rows of ${tables}; the catalogue's are in catalogue.${names[0]}.\n`,
  );
}

interface CountedResult extends QueryResult {
  /** The rows that were read so far. */
  readonly count: number;
}

function countRows(result: QueryResult): CountedResult {
  let count = 0;
  async function* readBatches() {
    for await (const batch of result.batches) {
      count += batch.length;
      yield batch;
    }
  }
  async function* readRows() {
    for await (const row of result.rows) {
      count++;
      yield row;
    }
  }
  const { columns, tables, emptyTables, lacksRelations, prunedRuns, maxRows } = result;
  return {
    ...{ columns, tables, emptyTables, lacksRelations, prunedRuns, maxRows },
    ...{ batches: readBatches(), rows: readRows() },
    get coverage() {
      return result.coverage;
    },
    get isCut() {
      return result.isCut;
    },
    get total() {
      return result.total;
    },
    get count() {
      return count;
    },
  };
}

const isQuestion = (sql: string | undefined): boolean => sql?.startsWith("@") ?? false;

/** Booleans as yes and no. */
function withWords({
  columns,
  rows,
  batches,
}: QueryResult): Pick<QueryResult, "columns" | "rows" | "batches"> {
  const areBooleans = columns.map(isBooleanName);
  async function* readRows() {
    for await (const row of rows) yield row.map((cell, n) => (areBooleans[n] ? yesOrNo(cell) : cell));
  }
  return { columns, rows: readRows(), batches };
}

async function printList(sql: string | undefined, { json, account }: Settings, io: Io): Promise<void> {
  const isSuitable = (question: Question) => account === null || areasOf(question).includes("account");
  const suitable = listQuestions().filter(isSuitable);
  const questions = sql === undefined ? suitable : [findQuestion(sql.replace(/^@/, ""))];
  if (json) await io.out(toJsonLine(questions));
  else if (sql === undefined) await printText(io, formatQuestions(questions, io.screen));
  else await printText(io, questions.map(formatQuestion).join(""));
}

/** Sorted rows are all computed before the first is shown, so most answers are counted within this time. */
const maxCountMillis = 300;

/** @throws CliError unless there is exactly one statement or question, with only its own options */
async function execute(
  sql: string | undefined,
  flags: QueryFlags,
  settings: Settings,
  io: Io,
  signal: AbortSignal | null,
): Promise<QueryResult & Partial<QuestionResult>> {
  const { file: sqlFile, parameter: parameters = {}, maxRows, timeout } = flags;
  if ((sql === undefined) === (sqlFile === undefined)) {
    const message = sql === undefined ? "The statement is missing." : "There is both a statement and --file.";
    throw new CliError(
      "usage",
      message,
      "Give one of: a SELECT, --file FILE, a question of `armoire query --list`.",
    );
  }
  const options = Object.fromEntries(
    [...questionOptions.keys()].flatMap((name) =>
      flags[name] === undefined ? [] : [[name, String(flags[name])]],
    ),
  );
  const [misplaced] = isQuestion(sql) ? Object.keys(parameters) : Object.keys(options);
  if (misplaced !== undefined) {
    throw isQuestion(sql)
      ? new CliError(
          "usage",
          "-p is for SQL, not for a question.",
          `\`armoire query --list ${sql}\` shows the options of ${sql}.`,
        )
      : new CliError(
          "usage",
          `--${misplaced} is for questions, not for SQL.`,
          `In SQL, write :${misplaced} and give -p ${misplaced}=VALUE.`,
        );
  }
  const statement = sql ?? (await readStatement(sqlFile ?? "-"));
  const file = mirrorFileToRead(settings);
  openMirrorReader(file).close();
  const asOf = readAsOf(flags, settings, io);
  const catalogue = readableCatalogueBeside(settings, io);
  const limits = {
    file,
    maxRows,
    timeoutMillis: timeout * 1000,
    countMillis: settings.quiet || flags.out !== undefined ? 0 : maxCountMillis,
    ...(asOf && { asOf }),
    ...(signal && { signal }),
    ...(catalogue !== null && { catalogue }),
  };
  if (isQuestion(sql)) return await runQuestion({ ...limits, question: statement.slice(1), options });
  return await runQuery({ ...limits, sql: statement, parameters });
}
