/** `armoire query`: one read-only SQL statement, or a canned question, run in a process of its own. */
import { type Command, Option } from "commander";
import type { Cell } from "../../../../schema/fields.ts";
import { MirrorError } from "../../../mirror/file/errors.ts";
import { openMirrorReader } from "../../../mirror/reader.ts";
import { findQuestion, listQuestions } from "../../../query/questions/questions.ts";
import { runQuestion } from "../../../query/questions/run-question.ts";
import { type QueryResult, runQuery } from "../../../query/sql/run-query.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { positiveNumber } from "../../flags/option-values.ts";
import {
  collectParameter,
  type FormatFlags,
  formatOption,
  readFormat,
  readStatement,
} from "../../flags/query-flags.ts";
import { formatQuestion, formatQuestions } from "../../format/questions.ts";
import { printResult, truncationNotice } from "../../format/result.ts";
import { catalogueFileBeside, mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import type { Io } from "../../terminal/io.ts";

/** Together with the options of questions, whose names are not known here. */
interface QueryFlags extends AsOfFlags, FormatFlags, Readonly<Record<string, unknown>> {
  readonly file?: string;
  readonly parameter?: Readonly<Record<string, Cell>>;
  readonly list?: boolean;
  readonly maxRows: number;
  readonly timeout: number;
  readonly raw?: boolean;
}

const questionOptions = new Map(
  listQuestions().flatMap(({ options }) => options.map(({ name, about }) => [name, about] as const)),
);

export function configure(command: Command, io: Io): void {
  command
    .argument(
      "[sql]",
      "one SELECT over brand, model, size, relation, known, coverage, recently_changed, of an account user, bra, measurement; or @NAME, a question",
    )
    .option("--file <file>", "read the SQL from a file; - is standard input")
    .option("-p, --parameter <name=value>", "what :name in the SQL is (repeatable)", collectParameter)
    .option("--list", "list the questions; with @NAME, show that one and its SQL")
    .addOption(formatOption())
    .option("--max-rows <n>", "stop after so many rows", positiveNumber, 100_000)
    .option("--timeout <seconds>", "end a statement that takes longer", positiveNumber, 60)
    .option("--raw", "in CSV, leave text that a spreadsheet would run as a formula as it is")
    .addOption(asOfOption())
    .showHelpAfterError(
      "`armoire query --help` says how it is used, `armoire query --list` what each question takes.",
    );
  for (const [name, about] of questionOptions)
    command.addOption(new Option(`--${name} <${name}>`, about).helpGroup("Options of questions:"));
  command
    .addHelpText(
      "after",
      `
Examples:
  armoire query "select name, bra_count from brand order by bra_count desc limit 10"
  armoire query "select * from coverage" --json
  armoire query "select * from model where is_discontinued = 1" --format csv > discontinued.csv
  armoire query "select * from size where band = :band" -p band=65 --format ndjson
  armoire query "select count(*) from size" --as-of 2026-11-03
  armoire query --list
  armoire query @brand-sizes --brand comexim
  armoire query "select name, note from bra where gone_at is null" --account ada
  armoire query "select b.name, m.type from bra b join catalogue.model m on m.href = b.model_href" --account ada`,
    )
    .action(async (sql: string | undefined, flags: QueryFlags) => {
      const settings = readSettings(command, io);
      const format = readFormat(flags, settings);
      if (flags.list) io.out(listText(sql, settings));
      else {
        const result = await ask(sql, flags, settings, io);
        await printResult(result, format, { raw: flags.raw ?? false }, io.out);
        const option = result.maxRows < flags.maxRows ? "--limit" : "--max-rows";
        if (result.isCut) truncationNotice(result.maxRows, option, settings, io);
      }
    });
}

/** Of an account: the mirror of its service's catalogue, if there is one. An account can be read without it. */
function readableCatalogue(settings: Settings, io: Io): string | null {
  const file = catalogueFileBeside(settings);
  if (file === null) return null;
  try {
    openMirrorReader(file).close();
    return file;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    if (!settings.quiet) io.err(`Without the catalogue: ${error.message}\n`);
    return null;
  }
}

function listText(sql: string | undefined, { json, account }: Settings): string {
  const askable = listQuestions().filter(({ isOfAccounts = false }) => account === null || isOfAccounts);
  const questions = sql === undefined ? askable : [findQuestion(sql.replace(/^@/, ""))];
  if (json) return `${JSON.stringify(questions)}\n`;
  return sql === undefined ? formatQuestions(questions) : questions.map(formatQuestion).join("");
}

/** @throws CliError when not exactly one thing is asked, or with what belongs to another */
async function ask(
  sql: string | undefined,
  flags: QueryFlags,
  settings: Settings,
  io: Io,
): Promise<QueryResult> {
  const { file: sqlFile, parameter: parameters = {}, maxRows, timeout } = flags;
  if ((sql === undefined) === (sqlFile === undefined)) {
    const message = sql === undefined ? "Nothing is asked." : "Both a statement and --file are given.";
    throw new CliError(
      "usage",
      message,
      "Give a SELECT, or --file FILE, or a question: `armoire query --list`.",
    );
  }
  const options = Object.fromEntries(
    [...questionOptions.keys()].flatMap((name) =>
      flags[name] === undefined ? [] : [[name, String(flags[name])]],
    ),
  );
  const isQuestion = sql?.startsWith("@") ?? false;
  const [stray] = isQuestion ? Object.keys(parameters) : Object.keys(options);
  if (stray !== undefined) {
    throw isQuestion
      ? new CliError("usage", "-p is for SQL.", `\`armoire query --list ${sql}\` shows what ${sql} takes.`)
      : new CliError(
          "usage",
          `--${stray} is for questions.`,
          `In SQL, write :${stray} and give -p ${stray}=VALUE.`,
        );
  }
  const statement = sql ?? (await readStatement(sqlFile ?? "-"));
  const file = mirrorFileToRead(settings);
  openMirrorReader(file).close();
  const asOf = readAsOf(flags, settings, io);
  const catalogue = readableCatalogue(settings, io);
  const terms = {
    file,
    maxRows,
    timeoutMillis: timeout * 1000,
    ...(asOf && { asOf }),
    ...(catalogue !== null && { catalogue }),
  };
  if (isQuestion) return await runQuestion({ ...terms, question: statement.slice(1), options });
  return await runQuery({ ...terms, sql: statement, parameters });
}
