/**
 * The `armoire` program: picks the command, loads only that one (start-up time matters), runs it, and turns an error into
 * one to three lines and an exit code.
 */
import { CommanderError } from "commander";
import { createProgram, loadCommand } from "./program.ts";
import { version } from "./self-command.ts";
import { describeError, exitCodeOf, exitCodes } from "./terminal/exit-codes.ts";
import { redactTokens } from "./terminal/format.ts";
import { type Io, systemIo } from "./terminal/io.ts";

/**
 * @param args the arguments after the program's name
 * @param io default: this process's streams and environment. The exit code is set there.
 */
export async function main(args: readonly string[], io: Io = systemIo()): Promise<void> {
  const program = createProgram(version(), {
    writeOut: io.out,
    writeErr: io.err,
    outputError: (text, write) => write(redactTokens(text + hintAtDash(text))),
  });
  program.hook("preSubcommand", (_program, command) => loadCommand(command, io));
  try {
    await program.parseAsync(args[0] === "help" ? [...args.slice(1), "--help"] : args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      io.setExitCode(error.exitCode === 0 ? exitCodes.done : exitCodes.usage);
      return;
    }
    io.err(describeError(error, args.includes("--verbose")));
    io.setExitCode(exitCodeOf(error));
  }
}

/** For a value such as `-7d` that commander takes for an option. */
function hintAtDash(error: string): string {
  return /unknown option '-(?!-\w)/.test(error) ? "If it is a value, write -- before it.\n" : "";
}
