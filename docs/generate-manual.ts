/**
 * `npm run build`: writes the manual page and the completion scripts of the package. In: the commands as commander knows
 * them, with their help texts. Out: `armoire.1` and the folder `completions` in `dist/`.
 */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import type { Argument, Command, Option } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { createLoadedProgram } from "../src/cli/program.ts";
import { environmentVariables } from "../src/cli/settings/environment.ts";
import { type ExitCodeName, exitCodeMeanings, exitCodes } from "../src/cli/terminal/exit-codes.ts";
import {
  describeArgument,
  describeOption,
  formatExitCodes,
  helpTextOf,
  nameOf,
  usageOf,
  withMetavariables,
} from "../src/cli/terminal/help.ts";
import { systemIo } from "../src/cli/terminal/io.ts";

/** The names that the shells look for. */
const completionFiles = { bash: "armoire.bash", zsh: "_armoire", fish: "armoire.fish" };

/** The manual page in the macros of man(7). */
export async function manualPage(): Promise<string> {
  const program = await createLoadedProgram(systemIo());
  const globalNames = new Set(program.options.map(({ long }) => long));
  const leaves = program.commands.flatMap((command) =>
    command.commands.length > 0 ? command.commands : [command],
  );
  return [
    `.TH ARMOIRE 1 "" "armoire ${packageJson.version}" "User Commands"`,
    // Options are not hyphenated, and lines not justified.
    ".nh\n.ad l",
    section("NAME", "armoire \\- offline mirror of a hypermedia bra catalogue"),
    section("SYNOPSIS", ".B armoire\nCOMMAND [options]"),
    section("DESCRIPTION", text(program.description())),
    section("COMMANDS", leaves.map((command) => commandSection(command, globalNames)).join("\n")),
    section("OPTIONS OF EVERY COMMAND", program.options.map(optionItem).join("\n")),
    section("ENVIRONMENT", Object.entries(environmentVariables).map(item).join("\n")),
    section("EXIT STATUS", Object.entries(exitCodes).map(exitCodeItem).join("\n")),
    "",
  ].join("\n");
}

function section(title: string, content: string): string {
  return `.SH "${title}"\n${content}`;
}

function commandSection(command: Command, globalNames: ReadonlySet<string | undefined>): string {
  const { details = [], examples, exitCodes: names } = helpTextOf(command);
  const own = command.options.filter(({ long }) => !globalNames.has(long));
  return [
    `.SS "${text(nameOf(command))}"`,
    `${text(command.description())}.`,
    `.PP\n.B ${text(usageOf(command))}`,
    ...details.map((paragraph) => `.PP\n${text(paragraph)}`),
    ...command.registeredArguments.map(argumentItem),
    ...own.map(optionItem),
    `.PP\nExamples:\n.PP\n.nf\n${examples.map(text).join("\n")}\n.fi`,
    `.PP\n${text(formatExitCodes(names))}`,
  ].join("\n");
}

const argumentItem = (argument: Argument): string =>
  item([argument.name().toUpperCase(), describeArgument(argument)]);

const optionItem = (option: Option): string =>
  item([withMetavariables(option.flags), describeOption(option)]);

function exitCodeItem([name, code]: [string, number]): string {
  const { label, details } = exitCodeMeanings[name as ExitCodeName];
  return item([String(code), details === "" ? label : `${label}: ${details}`]);
}

function item([term, about]: readonly [string, string]): string {
  return `.TP\n.B ${text(term)}\n${text(about)}`;
}

/** A text that roff prints as it is: escapes, hyphens, and dots and quotes that begin a line. */
function text(plain: string): string {
  return plain
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll('"', "\\(dq")
    .replace(/^\./gm, "\\&.")
    .replace(/[^\n -~]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, "0")}]`;
    });
}

if (import.meta.main) {
  const folder = new URL("../dist/", import.meta.url);
  const completions = new URL("completions/", folder);
  await writeFile(new URL("armoire.1", folder), await manualPage());
  await mkdir(completions, { recursive: true });
  const launcher = new URL("../src/cli/armoire.js", import.meta.url).pathname;
  for (const [shell, name] of Object.entries(completionFiles))
    await writeFile(
      new URL(name, completions),
      execFileSync(process.execPath, [launcher, "completion", shell]),
    );
}
