/** The whole command line, every command loaded, to be looked at and to parse with; no command ever runs. */
import { Command, CommanderError } from "commander";
import { commands } from "../../src/cli/commands.ts";
import { addGlobalOptions } from "../../src/cli/settings/global-options.ts";
import { systemIo } from "../../src/cli/terminal/io.ts";

export async function loadCommandLine(): Promise<Command> {
  const program = addGlobalOptions(new Command("armoire"))
    .version("")
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} });
  // It listens to the process's streams, so all commands share one, as in the program.
  const io = systemIo();
  for (const [name, { load }] of Object.entries(commands)) {
    const command = addGlobalOptions(program.command(name));
    (await load()).configure(command, io);
    for (const leaf of leavesOf(command)) leaf.action(() => {});
  }
  return program;
}

/** The commands that do something: a command's subcommands, or itself when it has none. */
export function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

/** What is wrong with a call, in commander's words; null when nothing is. */
export async function findUsageError(program: Command, args: readonly string[]): Promise<string | null> {
  try {
    await program.parseAsync(args, { from: "user" });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? null : error.message;
  }
}
