/**
 * The `armoire` program: picks the command, loads only that one (start-up time is part of the product), runs it, and
 * turns whatever it throws into one to three lines and an exit code.
 */
import { Command, CommanderError } from "commander";
import { commands } from "./commands.ts";
import { version } from "./self-command.ts";
import { addGlobalOptions } from "./settings/global-options.ts";
import { exitCodes } from "./terminal/exit-codes.ts";
import { redactTokens } from "./terminal/format.ts";
import { type Io, systemIo } from "./terminal/io.ts";

/**
 * @param args the arguments after the program's name
 * @param io this process's own unless told; ends by setting its exit code
 */
export async function main(args: readonly string[], io: Io = systemIo()): Promise<void> {
  const program = addGlobalOptions(new Command("armoire"))
    .description("Keeps an offline mirror of a hypermedia bra catalogue in plain SQLite files.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: (text, write) => write(redactTokens(text + hintAtDash(text))),
    })
    .showHelpAfterError("Run `armoire --help` for the list of commands.");
  for (const [name, { summary }] of Object.entries(commands))
    addGlobalOptions(hintAtHelp(program.command(name).description(summary).exitOverride()));
  program.hook("preSubcommand", async (_program, command) => {
    const module = await commands[command.name()]?.load();
    module?.configure(command, io);
    command.commands.forEach(hintAtHelp);
  });
  try {
    await program.parseAsync(args[0] === "help" ? [...args.slice(1), "--help"] : args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      io.setExitCode(error.exitCode === 0 ? exitCodes.done : exitCodes.usage);
      return;
    }
    const { describeError, exitCodeOf } = await import("./terminal/exit-codes.ts");
    io.err(describeError(error, args.includes("--verbose")));
    io.setExitCode(exitCodeOf(error));
  }
}

/** What is meant as a value, such as `-7d`, and was taken for an option. */
function hintAtDash(error: string): string {
  return /unknown option '-(?!-\w)/.test(error) ? "Where it is no option, write -- before it.\n" : "";
}

/** What follows on an error in the use of a command. */
function hintAtHelp(command: Command): Command {
  const name = command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();
  return command.showHelpAfterError(`\`armoire ${name} --help\` says how it is used.`);
}
