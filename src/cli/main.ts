/**
 * The `armoire` program: picks the command, loads only that one (start-up time matters), runs it, and turns an error into
 * one to three lines and an exit code.
 */
import { Command, CommanderError } from "commander";
import { showTimesIn } from "../presentation/times.ts";
import { createProgram, loadCommand } from "./program.ts";
import { version } from "./self-command.ts";
import { addGlobalOptions, type GlobalOptions } from "./settings/global-options.ts";
import { checkOutputPlaces } from "./settings/output-places.ts";
import { refuseUndecodable } from "./settings/undecodable.ts";
import { describeError, exitCodeOf, exitCodes } from "./terminal/exit-codes.ts";
import { redactTokens } from "./terminal/format.ts";
import { type Io, systemIo } from "./terminal/io.ts";

/**
 * @param args the arguments after the program's name
 * @param io default: this process's streams and environment. The exit code is set there.
 */
export async function main(args: readonly string[], io: Io = systemIo()): Promise<void> {
  // The user must be able to read and replace the files that it makes.
  process.umask(process.umask() & 0o077);
  // ioredis would print its commands, and with them the password of Redis.
  if (process.env.DEBUG) process.env.DEBUG += ",-ioredis*";
  /** The parser quotes arguments before the secrets in them are refused. */
  let parserErrors = "";
  /** Help, or the version. */
  let printed = "";
  const program = createProgram(version(), {
    writeOut: (text) => {
      printed += text;
    },
    writeErr: (text) => {
      parserErrors += text;
    },
    // The parser begins its errors with "error:", and all others begin with the program's name.
    outputError: (text, write) =>
      write(redactTokens(text.replace(/^error: /, "armoire: ") + hintAtDash(text))),
  });
  program.hook("preSubcommand", (_program, command) => loadCommand(command, io));
  const refuseSecrets = async (command: Command) => {
    const { refuseSecretArguments } = await import("./secrets/refuse-secrets.ts");
    await refuseSecretArguments(args, command, io);
  };
  program.hook("preAction", async (_program, command) => {
    refuseUndecodable(args, io);
    await refuseSecrets(command);
    checkOutputPlaces(command, io);
    const { utc } = command.optsWithGlobals<GlobalOptions>();
    showTimesIn(io.screen === null || utc === true ? "UTC" : "local");
  });
  const fail = (error: unknown) => {
    io.err(describeError(error, args.includes("--verbose")));
    io.setExitCode(exitCodeOf(error));
  };
  try {
    if (args[0] === "complete" && args[1] === "--") return await complete(program, args.slice(2), io);
    if (args.length === 0 && (await introduce(program, io))) return;
    await program.parseAsync(withUsualForms(args), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(error);
    io.setExitCode(error.exitCode === 0 ? exitCodes.done : exitCodes.usage);
    const print = () => (parserErrors === "" ? io.out(printed) : io.err(parserErrors));
    if (parserErrors === "" && args.every((arg) => isOfProgram(program, arg))) return void print();
    await refuseSecrets(withGlobalOptions(args)).then(print, fail);
  }
}

/** Whether an argument is an option without a value, or the name of a command. */
function isOfProgram(program: Command, arg: string): boolean {
  const isCommand = ({ commands }: Command): boolean =>
    commands.some((command) => command.name() === arg || isCommand(command));
  return ["help", "version"].includes(arg) || /^-[a-zA-Z]$|^--[a-z-]+$/.test(arg) || isCommand(program);
}

/** A command with the global options of a command line that could not be parsed as a whole. */
function withGlobalOptions(args: readonly string[]): Command {
  const command = addGlobalOptions(new Command())
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  try {
    command.parseOptions([...args]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return command;
}

/** @returns false if the user has begun already, and needs the list of commands instead */
async function introduce(program: Command, io: Io): Promise<boolean> {
  const { introduction } = await import("./settings/introduction.ts");
  const text = introduction(program, io);
  if (text === null) return false;
  io.err(text);
  io.setExitCode(exitCodes.usage);
  return true;
}

/** For the script of `armoire completion`. */
async function complete(program: Command, words: readonly string[], io: Io): Promise<void> {
  const { formatCandidates } = await import("./commands/operations/completion.ts");
  io.out(await formatCandidates(program, words, (command) => loadCommand(command, io)));
}

/** `help COMMAND`, `version` and `-v`, as other programs have them. */
function withUsualForms(args: readonly string[]): readonly string[] {
  const [first = "", ...others] = args;
  if (first === "help") return [...others, "--help"];
  return (first === "version" || first === "-v") && others.length === 0 ? ["--version"] : args;
}

/** For a value such as `-7d` that commander takes for an option. */
function hintAtDash(error: string): string {
  return /unknown option '-(?!-\w)/.test(error) ? "If it is a value, write -- before it.\n" : "";
}
