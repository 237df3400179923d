import type { Command } from "commander";
import { CliError } from "../terminal/exit-codes.ts";

/**
 * Refuses empty values of all options before a command runs. An unset variable of a script has no value, and for an
 * address or folder that would silently mean all addresses or the current folder.
 */
export function refuseEmptyValues(program: Command): Command {
  return program.hook("preAction", (_program, command) => {
    for (let level: Command | null = command; level !== null; level = level.parent) {
      const { options } = level;
      const empty = options.find((option) => isEmpty(level?.getOptionValue(option.attributeName())));
      if (empty === undefined) continue;
      throw new CliError(
        "usage",
        `${empty.long} has an empty value.`,
        "Give a value, or leave the option out.",
      );
    }
  });
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isEmpty) : value === "";
}
