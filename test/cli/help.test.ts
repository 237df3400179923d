/** The help of every command and subcommand, as the program itself lists them. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { findUsageError, leavesOf, loadCommandLine } from "../support/command-line.ts";
import { shellCommandsIn } from "../support/markdown.ts";

const program = await loadCommandLine();

/** The command as a user calls it. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function helpOf(command: Command): string {
  let printed = "";
  const writeOut = (text: string) => {
    printed += text;
  };
  command.configureOutput({ writeOut }).outputHelp();
  return printed;
}

/** The calls under "Examples:", each as a list of arguments. */
function examplesIn(help: string): readonly (readonly string[])[] {
  const [, block = ""] = /\nExamples:\n((?: {2}.*\n)+)/.exec(`${help}\n`) ?? [];
  return shellCommandsIn(`\`\`\`sh\n${block}\`\`\`\n`).filter(([word]) => word === "armoire");
}

const all = program.commands.flatMap((command) => [...new Set([command, ...leavesOf(command)])]);

describe("the help of", () => {
  it.each(all.map((command) => ({ name: nameOf(command), command })))(
    "$name has examples that are valid calls",
    async ({ name, command }) => {
      const examples = examplesIn(helpOf(command));
      // `armoire backup` and `armoire export` alone are their own defaults.
      const itself = name.replace(/^armoire (backup run|export create)$/, (text) =>
        text.replace(/ \w+$/, ""),
      );
      expect(examples.filter((args) => args.join(" ").startsWith(itself))).not.toEqual([]);
      for (const args of examples)
        expect([args.join(" "), await findUsageError(program, args.slice(1))]).toEqual([
          args.join(" "),
          null,
        ]);
    },
  );

  it.each(all.map((command) => ({ name: nameOf(command), command })))(
    "$name fits 80 columns",
    ({ command }) => {
      expect(
        helpOf(command)
          .split("\n")
          .filter((line) => line.length > 80),
      ).toEqual([]);
    },
  );

  it.each(all.map((command) => ({ name: nameOf(command), command })))(
    "$name lists the exit codes of the command in ascending order",
    ({ command }) => {
      const [, list = ""] = /\nExit codes: ([\s\S]+?)\.\n\nGlobal options:\n/.exec(helpOf(command)) ?? [];
      const codes = [...list.matchAll(/(?<=^|,\s)\d+/g)].map(([code]) => Number(code));
      expect(codes.slice(0, 3)).toEqual([0, 1, 2]);
      expect(codes).toEqual(codes.toSorted((one, other) => one - other));
    },
  );

  it.each(all.map((command) => ({ name: nameOf(command), command })))(
    "$name ends with the options that all commands share",
    ({ command }) => {
      const help = helpOf(command);
      const shared = help.slice(help.lastIndexOf("\n\n"));
      expect(shared).toMatch(/^\n\nGlobal options:\n {2}--data-dir DIR /);
      expect(shared).toContain("\n  -h, --help ");
      expect(help.indexOf("--data-dir DIR")).toBeGreaterThan(help.indexOf("\nExit codes: "));
    },
  );
});

it("the help of a command with a default subcommand has that one's options", () => {
  const optionsOf = (name: string) =>
    helpOf(all.find((command) => nameOf(command) === name) ?? program).match(/^ {2}(-\w, )?--[a-z-]+/gm);
  const groups = { "armoire export": "create", "armoire runs": "list", "armoire backup": "run" };
  for (const [group, name] of Object.entries(groups))
    expect(optionsOf(group)).toEqual(optionsOf(`${group} ${name}`));
});

it("the list of commands has the operands that each command's help names", () => {
  const list = helpOf(program);
  for (const command of program.commands) {
    const [usage = ""] = helpOf(command).split("\n");
    const operands = usage.replace(`Usage: ${nameOf(command)} [options]`, "").trim();
    expect(list).toMatch(
      new RegExp(`^ {2}${`${command.name()} ${operands}`.trim().replace(/[.[\]]/g, "\\$&")}(?: {2}|\n)`, "m"),
    );
  }
});
