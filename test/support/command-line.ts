/** The whole command line with every command loaded, for parsing only: no command ever runs. */
import { type Command, CommanderError } from "commander";
import { createLoadedProgram } from "../../src/cli/program.ts";
import { systemIo } from "../../src/cli/terminal/io.ts";

export async function loadCommandLine(): Promise<Command> {
  const program = await createLoadedProgram(systemIo());
  for (const leaf of program.commands.flatMap(leavesOf)) leaf.action(() => {});
  return program;
}

/** The commands that run: a command's subcommands, or the command itself without any. */
export function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** @returns commander's message about a call; null if it is valid */
export async function findUsageError(program: Command, args: readonly string[]): Promise<string | null> {
  try {
    await program.parseAsync(args, { from: "user" });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? null : error.message;
  }
}
