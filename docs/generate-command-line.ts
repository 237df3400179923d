/**
 * `npm run docs`: writes `command-line.md`. In: the commands as commander knows them, with their help texts, the environment
 * variables and the exit codes. Out: the page.
 */
import { writeFile } from "node:fs/promises";
import type { Command, Option } from "commander";
import { createLoadedProgram } from "../src/cli/program.ts";
import { environmentVariables } from "../src/cli/settings/environment.ts";
import {
  type ExitCodeName,
  exitCodeMeanings,
  exitCodes,
  precedence,
} from "../src/cli/terminal/exit-codes.ts";
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
import { wrapText } from "../src/cli/terminal/wrap.ts";

const columns = 100;

const introduction = `# The command line

\`\`\`
armoire COMMAND [options]
\`\`\`

In a clone it is \`npx armoire\`. \`armoire COMMAND --help\` prints the same texts as this page. Data
goes to stdout; progress, notices and errors go to stderr. This page is made by \`npm run docs\` from
the program itself.

[JSON output](json-output.md) describes what \`--json\` prints. An error is text on stderr even then,
with its exit code. It says what happened, where, and what to do next; \`--verbose\` adds its cause
and stack.
`;

const settings = `## Settings

Options beat the environment, the environment beats the config file, and the config file beats
defaults. \`armoire doctor\` shows each setting with its source. \`--account\` excludes \`--mirror\`,
\`--base-url\` and \`--service-name\`, because an account has its own.

| | default data directory | default config file |
| --- | --- | --- |
| Linux | \`~/.local/share/armoire\` | \`~/.config/armoire/config.json\` |
| macOS | \`~/Library/Application Support/armoire\` | \`~/Library/Preferences/armoire/config.json\` |
| Windows | \`%LOCALAPPDATA%\\armoire\\Data\` | \`%APPDATA%\\armoire\\Config\\config.json\` |

In the data directory each service has a folder, named after its host and a short hash of its base
URL, with \`catalogue.sqlite\` in it. \`ledger.sqlite\` beside these folders records the allowance of
each service, for all mirrors. A command that reads uses the mirror of \`--mirror\`, else that of the
base URL, else the only one. Each account has its own folder \`accounts/NAME\` with its own mirror and
ledger.
`;

const environment = `## Environment

Credentials come from the environment or from files, never from the command line, where other users
could read them. They are sent to the base URL's origin only; see [SECURITY.md](../SECURITY.md). The
catalogue can be read without a credential; an application's key and secret raise the allowance. A
private file is one that only you may read.
`;

const points = `## Points in time

The mirror remembers its state at the end of every run. \`--as-of POINT\` shows that state. A POINT is

| | |
| --- | --- |
| \`12\` | a run's number, as in \`armoire runs\`; \`run:2026\` if it looks like a year |
| \`latest\` | the last ended run |
| \`latest-1\`, \`latest-2\` | that many ended runs before |
| \`2026\`, \`2026-11\`, \`2026-11-03\`, \`2026-11-03T06\`, \`2026-11-03T06:15\`, \`2026-11-03T06:15:30.5\` | a time; from hours on, \`Z\` or \`+02:00\` may follow; default: the computer's time zone |
| \`-12h\`, \`-7d\`, \`-3w\`, \`-2m\` | that many hours, days, weeks or months ago, at the same time of day |

A point has one meaning in all commands:

- A **run** means its end. \`--as-of 1\`, \`--from 1\`, \`--to 1\`, \`--since 1\` and
  \`--changed-since 1\` mean the same moment. \`latest\` and \`latest-1\` are runs too.
- A **day**, month or other time counts in full. A state is the one at its end:
  \`--as-of 2026-11-03\`, \`--from\` and \`--to\` show the midnight after that day. Changes begin with
  it: \`--since 2026-11-03\` and \`--changed-since\` include those of that day.
- \`diff --since\` and \`@discontinued --since\` compare with the service's own times, which have no
  runs.

If a question has no rows since a point, a notice on stderr names the moment, and says if no run had
ended before it or none after it. A state is that of the run with the highest number that had ended
by then. A notice on stderr names that run, the instant, and the share of known resources that were
held:

\`\`\`
As of run 12 (2026-11-03T06:04:12.201Z, the last run by 2026-11-03T22:59:59.999Z: 2026-11-03, Europe/Berlin time): 61 % of the known resources were held.
\`\`\`

An invalid point ends with exit code 2. An unknown run, or a time before the first ended run, ends
with 1 and the list of points. A mirror of an earlier version shows its past after the next sync or
\`armoire mirror rebuild\`.
`;

export async function commandLinePage(): Promise<string> {
  const program = await createLoadedProgram(systemIo());
  const leaves = program.commands.flatMap((command) =>
    command.commands.length > 0 ? [command, ...command.commands] : [command],
  );
  const globalNames = new Set(program.options.map(({ long }) => long));
  return [
    introduction,
    `## Options of every command\n\n${optionTable(program.options)}`,
    settings,
    `${environment}\n${environmentTable()}`,
    exitCodeSection(),
    points,
    "## Commands\n",
    ...leaves.map((command) => commandSection(command, globalNames)),
  ].join("\n");
}

function commandSection(command: Command, globalNames: ReadonlySet<string | undefined>): string {
  const { details = [], examples, exitCodes: names } = helpTextOf(command);
  const own = command.options.filter(({ long }) => !globalNames.has(long));
  const isGroup = command.commands.length > 0;
  return [
    `### \`${headingOf(command)}\`\n`,
    `${wrapText(sentence(command.description()), columns)}\n`,
    ...(isGroup ? [] : [`\`\`\`\n${usageOf(command)}\n\`\`\`\n`]),
    ...details.map((paragraph) => `${wrapText(markdown(paragraph), columns)}\n`),
    ...(command.registeredArguments.length === 0 ? [] : [argumentTable(command)]),
    ...(own.length === 0 ? [] : [optionTable(own)]),
    ...(isGroup ? [] : [`\`\`\`sh\n${examples.map((example) => `${example}\n`).join("")}\`\`\`\n`]),
    ...(isGroup ? [] : [`${wrapText(formatExitCodes(names), columns)}\n`]),
  ].join("\n");
}

function argumentTable(command: Command): string {
  const rows = command.registeredArguments.map(
    (argument) => `| \`${argument.name().toUpperCase()}\` | ${cell(describeArgument(argument))} |\n`,
  );
  return `| argument | |\n| --- | --- |\n${rows.join("")}`;
}

/** Such as `armoire show KIND KEY`. */
function headingOf(command: Command): string {
  const operands = command.registeredArguments.map((argument) => argument.name().toUpperCase());
  return [nameOf(command), ...operands].join(" ");
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map(
    (option) =>
      `| \`${withMetavariables(option.flags).replaceAll("|", "\\|")}\` | ${cell(describeOption(option))} |\n`,
  );
  return `| option | |\n| --- | --- |\n${rows.join("")}`;
}

function environmentTable(): string {
  const rows = Object.entries(environmentVariables).map(
    ([name, about]) => `| \`${name}\` | ${cell(about)} |\n`,
  );
  return `| variable | |\n| --- | --- |\n${rows.join("")}`;
}

function exitCodeSection(): string {
  const rows = Object.entries(exitCodes).map(([name, code]) => {
    const { label, details } = exitCodeMeanings[name as ExitCodeName];
    return `| ${code} | ${label} | ${details} |\n`;
  });
  const order = `If several codes apply, the first of ${precedence.join(", ")} is used.`;
  return `## Exit codes\n\n${order}\n\n| code | | |\n| --- | --- | --- |\n${rows.join("")}`;
}

/** Options and variable names as code, and the rest escaped for a table. */
function cell(text: string): string {
  return markdown(text).replaceAll("|", "\\|");
}

function markdown(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith("`") ? part : part.replace(/(?<![\w-])(--[a-z][a-z-]*|ARMOIRE_[A-Z_]+)/g, "`$1`"),
    )
    .join("");
}

function sentence(text: string): string {
  const ended = markdown(text);
  return `${ended.charAt(0).toUpperCase()}${ended.slice(1)}.`;
}

if (import.meta.main) await writeFile(new URL("command-line.md", import.meta.url), await commandLinePage());
