/** The options of every command. They are apart from the settings so that `--help` loads nothing else. */
import { type Command, Option } from "commander";
import { CliError } from "../terminal/exit-codes.ts";
import { globalOptions, helpTextOf, nameOf } from "../terminal/help.ts";

export interface GlobalOptions {
  readonly dataDir?: string;
  readonly baseUrl?: string;
  readonly serviceName?: string;
  readonly mirror?: string;
  readonly account?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly utc?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

export function addGlobalOptions(command: Command): Command {
  command
    .optionsGroup(globalOptions)
    .option("--data-dir <dir>", "the folder for mirrors and ledgers (ARMOIRE_DATA_DIR)")
    .option("--base-url <url>", "the service's root (ARMOIRE_BASE_URL)")
    .addOption(
      new Option(
        "--service-name <name>",
        "the prefix of the service's own fields: `acme` for `acme_url` (ARMOIRE_SERVICE_NAME)",
      ).default(undefined, "service"),
    )
    .option("--mirror <file>", "a mirror file outside the data directory")
    .option("--account <name>", "the mirror of this account, not the catalogue's")
    .option("--config <file>", "a JSON file with dataDir, baseUrl, serviceName, license and citation")
    .option("--json", "print one JSON document instead of text")
    .option("--utc", "show times in UTC (default: on a terminal local times, elsewhere UTC)")
    .option("--quiet", "print no progress and no notices; warnings stay")
    .option("--verbose", "print the cause and the stack of an error");
  const { unused = [] } = helpTextOf(command);
  if (unused.length > 0) refuseOptions(command, unused);
  return command;
}

/** The program itself takes them, too, so commander would ignore them. */
function refuseOptions(command: Command, flags: readonly string[]): void {
  const refused = command.options.filter(({ long }) => long !== undefined && flags.includes(long));
  for (const option of refused) option.hideHelp();
  command.hook("preAction", () => {
    const given = command.optsWithGlobals();
    const option = refused.find((one) => given[one.attributeName()] !== undefined);
    if (option === undefined) return;
    const hint = `Leave it out; \`${nameOf(command)} --help\` has the options.`;
    throw new CliError("usage", `\`${nameOf(command)}\` has no use for ${option.long}.`, hint);
  });
}
