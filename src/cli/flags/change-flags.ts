/** Options about changes: which ones `diff` and `changes` show, and the command that a sync runs with them. */

import { type Command, InvalidArgumentError, Option } from "commander";
import parseArgsStringToArgv from "string-argv";
import { type ChangeWord, changeWords } from "../../change/change.ts";
import type { FilterInput } from "../../change/filter.ts";
import type { ChangeCommand } from "../../change/log/run-command.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { withoutSettings } from "../terminal/other-programs.ts";
import { collect } from "./option-values.ts";

export interface ChangeFilterFlags {
  readonly kind: readonly string[];
  readonly brand: readonly string[];
  readonly model: readonly string[];
  readonly field: readonly string[];
  readonly ignore: readonly string[];
  readonly change: readonly ChangeWord[];
}

export const addChangeFilterFlags = (command: Command): Command =>
  command
    .option("--kind <kind>", "only this kind (repeatable)", collect, [])
    .option("--brand <name>", "only this brand with its models and sizes (repeatable)", collect, [])
    .option(
      "--model <name>",
      "only this model with its sizes: a name, a key or a URL (repeatable)",
      collect,
      [],
    )
    .option("--field <name>", "only changes of this field (repeatable)", collect, [])
    .option("--ignore <name>", "no changes of this field (repeatable)", collect, [])
    .option(
      "--change <word>",
      `only ${changeWords.slice(0, -1).join(", ")} or ${changeWords.at(-1)} resources (repeatable)`,
      collectWord,
      [],
    );

/** @throws InvalidArgumentError */
function collectWord(text: string, words: readonly ChangeWord[]): ChangeWord[] {
  const word = changeWords.find((known) => known === text);
  if (word === undefined) throw new InvalidArgumentError(`It must be one of ${changeWords.join(", ")}.`);
  return [...words, word];
}

export const changeFilterOf = ({
  kind,
  brand,
  model,
  field,
  ignore,
  change,
}: ChangeFilterFlags): FilterInput => ({
  kinds: kind,
  brands: brand,
  models: model,
  fields: field,
  ignored: ignore,
  words: change,
});

const formats = ["ndjson", "markdown"] as const;

export interface OnChangeFlags {
  readonly onChange?: string;
  readonly onChangeFormat: (typeof formats)[number];
}

export const addOnChangeFlags = (command: Command): Command =>
  command
    .option(
      "--on-change <cmd>",
      "after a run that changed something, run this command with the changes as its input",
    )
    .addOption(
      new Option("--on-change-format <format>", "the format of its input").choices(formats).default("ndjson"),
    );

/** @throws CliError */
export function readChangeCommand(
  { onChange, onChangeFormat }: OnChangeFlags,
  { env }: Pick<Io, "env">,
): ChangeCommand | null {
  if (onChange === undefined) return null;
  if (/["']/.test(onChange.replace(/"[^"]*"|'[^']*'/g, "")))
    throw new CliError(
      "usage",
      "--on-change has a quote without its other half.",
      "Quotes come in pairs, and a backslash is a plain character.",
    );
  const [program, ...args] = parseArgsStringToArgv(onChange);
  if (!program)
    throw new CliError("usage", "--on-change needs a command.", "For example: --on-change ./notify.sh");
  return { command: [program, ...args], format: onChangeFormat, env: withoutSettings(env) };
}
