/** `armoire mcp`: offers a mirror to a language model's program, until that program ends it. */
import type { Command } from "commander";
import { serveMcp } from "../../../mcp/serve-mcp.ts";
import { version } from "../../self-command.ts";
import { mirrorFileToRead, readableCatalogueBeside } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";

export function configure(command: Command, io: Io): void {
  addHelp(command, {
    details: [
      "A program such as an editor or a chat client starts this command and talks to it through its standard input and output " +
        "(Model Context Protocol). It gets the tools tables, questions, search, show, diff and query, which read the mirror and " +
        "change nothing. An answer has at most 40,000 characters, a query at most 30 seconds. It never connects to the service.",
      "What the tools answer goes to the program, and from there perhaps to a language model elsewhere. An account's mirror is " +
        "therefore offered only with --account NAME.",
      "It needs a package that is not installed with Armoire: `npm install @modelcontextprotocol/server`.",
    ],
    examples: ["armoire mcp", "armoire mcp --mirror catalogue.sqlite", "armoire mcp --account ada"],
    exitCodes: exitCodesOfReading,
  });
  command.action(async () => {
    const settings = readSettings(command, io);
    const file = mirrorFileToRead(settings);
    const catalogue = readableCatalogueBeside(settings, io);
    const stop = new AbortController();
    // Ctrl-C is a normal end, so the exit code is 0.
    io.onInterrupt(() => stop.abort());
    await serveMcp({
      file,
      ...(catalogue !== null && { catalogue }),
      allowsAccount: settings.account !== null,
      version: version(),
      input: process.stdin,
      output: process.stdout,
      signal: stop.signal,
    });
  });
}
