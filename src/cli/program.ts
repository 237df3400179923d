/** The commander program: one stub for each command, whose module is loaded when it is called. */
import { Command, type Option, type OutputConfiguration } from "commander";
import { commands } from "./commands.ts";
import { refuseEmptyValues } from "./settings/empty-values.ts";
import { environmentVariables } from "./settings/environment.ts";
import { addGlobalOptions } from "./settings/global-options.ts";
import { exitCodeMeanings, exitCodes } from "./terminal/exit-codes.ts";
import { helpColumns, helpConfiguration, nameOf, noteOperands } from "./terminal/help.ts";
import type { Io } from "./terminal/io.ts";
import { wrapLines } from "./terminal/wrap.ts";

/** The program throws a CommanderError where commander would exit. */
export function createProgram(version: string, output: OutputConfiguration): Command {
  const program = addGlobalOptions(new Command("armoire"))
    .description("Keeps an offline mirror of a hypermedia bra catalogue in plain SQLite files.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .configureHelp(helpConfiguration)
    .configureOutput(output)
    .exitOverride()
    .showHelpAfterError("Run `armoire --help` for the list of commands.")
    .addHelpText("after", programHelp);
  program.hook("preAction", (_program, command) => checkRequiredOptions(command));
  refuseEmptyValues(program);
  for (const [name, { summary, operands }] of Object.entries(commands)) {
    const command = hintAtHelp(program.command(name).description(summary));
    if (operands !== undefined) noteOperands(command, operands);
  }
  return program;
}

/** Adds options, help and action to the stub of a command. */
export async function loadCommand(command: Command, io: Io): Promise<void> {
  const module = await commands[command.name()]?.load();
  module?.configure(command, io);
  command.commands.forEach(hintAtHelp);
  [command, ...command.commands].forEach(postponeRequired);
  // After the command's own options, which help lists first.
  [command, ...command.commands].forEach(addGlobalOptions);
}

const required = new WeakMap<Command, readonly Option[]>();

/** Commander looks for missing options before unknown ones, so it would not see that `--outt` is a misspelt `--out`. */
function postponeRequired(command: Command): void {
  const options = requiredOptionsOf(command);
  required.set(command, options);
  for (const option of options) option.mandatory = false;
}

/** The options that a command cannot do without. */
export function requiredOptionsOf(command: Command): readonly Option[] {
  return required.get(command) ?? command.options.filter(({ mandatory }) => mandatory);
}

/** @throws CommanderError if one of them is missing */
function checkRequiredOptions(command: Command): void {
  const missing = requiredOptionsOf(command).find(
    (option) => command.getOptionValue(option.attributeName()) === undefined,
  );
  if (missing !== undefined) command.error(`error: required option '${missing.flags}' not specified`);
}

function hintAtHelp(command: Command): Command {
  return command.showHelpAfterError(`\`${nameOf(command)} --help\` explains the usage.`);
}

function programHelp(): string {
  const variables = Object.entries(environmentVariables);
  const width = Math.max(...variables.map(([name]) => name.length));
  const codes = Object.entries(exitCodes) as [keyof typeof exitCodes, number][];
  const text = [
    "\nEnvironment:\n",
    ...variables.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`),
    "\nExit codes:\n",
    ...codes.map(([name, code]) => `  ${code.toString().padStart(3)}  ${exitCodeMeanings[name].label}\n`),
    "\n`armoire COMMAND --help` shows the options and examples of a command.",
  ].join("");
  return wrapLines(text, helpColumns);
}

/** The program with every command loaded, for the generated page and for tests. It prints nothing. */
export async function createLoadedProgram(io: Io): Promise<Command> {
  const program = createProgram("", { writeOut: () => {}, writeErr: () => {} });
  for (const command of program.commands) await loadCommand(command, io);
  return program;
}
