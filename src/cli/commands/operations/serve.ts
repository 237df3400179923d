/** `armoire serve`: shows a mirror as local web pages until it is interrupted. */
import type { Command } from "commander";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { createServer, type WebServer } from "../../../web/server.ts";
import { type AsOfFlags, asOfOption } from "../../flags/as-of.ts";
import { portNumber } from "../../flags/option-values.ts";
import { candidateMirrorFiles, mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";
import { openBrowser } from "../../terminal/open-browser.ts";

interface ServeFlags extends AsOfFlags {
  readonly port: number;
  readonly host: string;
  readonly open?: boolean;
}

export function configure(command: Command, io: Io): void {
  command
    .option("--port <n>", "port to listen on; 0 picks a free one", portNumber, 8900)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addOption(asOfOption())
    .option("--open", "open the pages in the browser");
  addHelp(command, {
    details: [
      "Prints an address at which a browser shows the mirror: brands, models, the sizes that they cover, their history, and " +
        "a search. Every list is also there as .csv, .ndjson and .json. It reads files only, and never connects to the service.",
      "Pages are for this machine. With another --host they need the key that is printed with the address.",
    ],
    examples: [
      "armoire serve",
      "armoire serve --port 0 --open",
      "armoire serve --as-of 2026-11-03",
      "armoire serve --json",
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action(async () => {
    const flags = command.opts<ServeFlags>();
    const settings = readSettings(command, io);
    const server = await createServer({
      findCatalogue: catalogueFinder(settings),
      port: flags.port,
      host: flags.host,
      ...(flags.asOf !== undefined && { asOf: parsePoint(flags.asOf, pointContext()) }),
      onError: (text) => io.err(`${text}\n`),
    });
    const stopped = new Promise((resolve) => io.onInterrupt(resolve));
    await io.out(settings.json ? toJsonLine(describeForJson(server)) : describeForTerminal(server));
    if (flags.open && !(await openBrowser(server.url))) io.err("No browser could be opened.\n");
    // Ctrl-C is the normal end of a server, so the exit code is 0.
    await stopped;
    await server.close();
  });
}

/** A mirror may be created while the server runs; several are a mistake that is reported at once. */
function catalogueFinder(settings: Settings): () => string | null {
  if (candidateMirrorFiles(settings).length > 1) mirrorFileToRead(settings);
  return () => candidateMirrorFiles(settings)[0] ?? null;
}

/** The key is one of the addresses' parts only where pages need it. */
function describeForJson({ url, key, needsKey }: WebServer): unknown {
  return { pages: url, key: needsKey ? key : null };
}

function describeForTerminal({ url, key, needsKey }: WebServer): string {
  const address = needsKey ? `${url}#key=${key}` : url;
  return `The mirror is at ${address}\nPress Ctrl-C to stop.\n`;
}
