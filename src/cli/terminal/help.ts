/** Help texts of commands. `--help` prints them, and `docs/generate-command-line.ts` writes them as a page. */
import type { Argument, Command, Help, HelpConfiguration, Option } from "commander";
import { type ExitCodeName, exitCodeMeanings, exitCodes } from "./exit-codes.ts";
import { wrapText } from "./wrap.ts";

export interface HelpText {
  /** Paragraphs, in any line length. */
  readonly details?: readonly string[];
  /** Calls that can be pasted into a shell. */
  readonly examples: readonly string[];
  /** The exit codes that this command can have, in any order. */
  readonly exitCodes: readonly ExitCodeName[];
  /** Options of every command that this one has no use for, such as `--mirror`: it refuses them. */
  readonly unused?: readonly string[];
  /** The subcommand that runs if none is named. Its options are shown here, too. */
  readonly defaultCommand?: Command;
}

/** The exit codes of a command that reads a mirror. */
export const exitCodesOfReading = ["done", "failed", "usage", "settings", "damaged"] as const;

/** The exit codes of a command that reads backups or exports. */
export const exitCodesOfVerifying = ["done", "failed", "usage", "settings", "rejected"] as const;

const helpTexts = new WeakMap<Command, HelpText>();
const operands = new WeakMap<Command, string>();

export const helpColumns = 80;

export function addHelp(command: Command, help: HelpText): Command {
  helpTexts.set(command, help);
  return command;
}

/** Of a command that is not loaded yet, for the list of commands. @param text such as `KIND [KEY]` */
export function noteOperands(command: Command, text: string): void {
  operands.set(command, text);
}

export function helpTextOf(command: Command): HelpText {
  return helpTexts.get(command) ?? { examples: [], exitCodes: [] };
}

function paragraphsOf(command: Command): string[] {
  const help = helpTexts.get(command);
  if (help === undefined) return [];
  return [
    ...(help.details ?? []).map((paragraph) => wrapText(paragraph, helpColumns)),
    ["Examples:", ...help.examples.map(wrapExample)].join("\n"),
    wrapText(formatExitCodes(help.exitCodes), helpColumns),
  ];
}

/** A word for the shell, or an option with its value. */
const shellWord = /(?:--?[a-z-]+ (?!-))?(?:[^\s"']|"[^"]*"|'[^']*')+/g;

/** In lines that a shell reads as one. */
function wrapExample(example: string): string {
  const lines: string[] = [];
  let line = " ";
  for (const [word] of example.matchAll(shellWord)) {
    if (line.length + word.length + " \\".length >= helpColumns) {
      lines.push(`${line} \\`);
      line = "   ";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}

export function formatExitCodes(names: readonly ExitCodeName[]): string {
  const ordered = names.toSorted((one, other) => exitCodes[one] - exitCodes[other]);
  return `Exit codes: ${ordered.map((name) => `${exitCodes[name]} ${exitCodeMeanings[name].label}`).join(", ")}.`;
}

/** The heading of the options that every command has. */
export const globalOptions = "Global options:";

/** Metavariables are in capitals, defaults without quotes, and the options that all commands share come last. */
export const helpConfiguration: HelpConfiguration = {
  formatHelp,
  commandUsage: usageOf,
  subcommandTerm: (command) =>
    `${command.name()} ${operands.get(command) ?? operandsOf(command).join(" ")}`.trim(),
  argumentTerm: (argument) => argument.name().toUpperCase(),
  argumentDescription: describeArgument,
  optionTerm: ({ flags }) => withMetavariables(flags),
  optionDescription: describeOption,
};

function formatHelp(command: Command, helper: Help): string {
  const { defaultCommand } = helpTextOf(command);
  const shown = defaultCommand === undefined ? [command] : [command, defaultCommand];
  const width = Math.max(...shown.map((each) => helper.padWidth(each, helper)));
  const list = (title: string, items: readonly (readonly [term: string, description: string])[]) => {
    const lines = items.map(([term, description]) => helper.formatItem(term, width, description, helper));
    return lines.length === 0 ? [] : [[title, ...lines].join("\n")];
  };
  const options = (title: string, of: Command, isGlobal: boolean) =>
    list(
      title,
      helper
        .visibleOptions(of)
        .filter(({ helpGroupHeading }) => (helpGroupHeading === globalOptions) === isGlobal)
        .map((option) => [helper.optionTerm(option), helper.optionDescription(option)]),
    );
  const parts = [
    `Usage: ${helper.commandUsage(command)}`,
    helper.boxWrap(helper.commandDescription(command), helpColumns),
    ...list(
      "Arguments:",
      helper
        .visibleArguments(command)
        .map((argument) => [helper.argumentTerm(argument), helper.argumentDescription(argument)]),
    ),
    ...options("Options:", command, false),
    ...(defaultCommand
      ? options(`Options without a command, or with ${defaultCommand.name()}:`, defaultCommand, false)
      : []),
    ...list(
      "Commands:",
      helper
        .visibleCommands(command)
        .map((one) => [helper.subcommandTerm(one), helper.subcommandDescription(one)]),
    ),
    ...paragraphsOf(command),
    ...options(globalOptions, command, true),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Such as `armoire show [options] KIND [KEY]`. */
export function usageOf(command: Command): string {
  const isGroup = command.commands.length > 0;
  return [
    nameOf(command),
    "[options]",
    ...(isGroup ? [operands.get(command) ?? "COMMAND"] : []),
    ...operandsOf(command),
  ].join(" ");
}

/** Such as `armoire backup create`. */
export function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function operandsOf(command: Command): string[] {
  return command.registeredArguments.map((argument) => {
    const name = `${argument.name().toUpperCase()}${argument.variadic ? "..." : ""}`;
    return argument.required ? name : `[${name}]`;
  });
}

/** Such as `--budget N` for commander's `--budget <n>`. */
export function withMetavariables(flags: string): string {
  return flags
    .replace(/<([^<>]+)>/g, (_, name: string) => name.toUpperCase())
    .replace(/\[([^[\]]+)\]/g, (all) => all.toUpperCase());
}

export function describeArgument({ description, argChoices, defaultValue }: Argument): string {
  return withValues(description, argChoices, defaultValue);
}

export function describeOption(option: Option): string {
  const { defaultValue, defaultValueDescription, description, argChoices } = option;
  // Commander's own, of an option that may be repeated or that takes no value, says nothing to a user.
  const isShown = !Array.isArray(defaultValue) && (option.required || option.optional);
  return withValues(description, argChoices, defaultValueDescription ?? (isShown ? defaultValue : undefined));
}

function withValues(description: string, choices: readonly string[] | undefined, value: unknown): string {
  const parts = [
    ...(choices === undefined ? [] : [choices.join(", ")]),
    ...(value === undefined ? [] : [`default: ${value}`]),
  ];
  if (parts.length === 0) return description;
  const [, text = description, note] = description.match(/^(.*) \(([^()]+)\)$/) ?? [];
  return `${text} (${[...(note === undefined ? [] : [note]), ...parts].join("; ")})`;
}
