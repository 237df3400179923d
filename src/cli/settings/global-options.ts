/** The options that every command takes. Apart from the settings themselves, so that `--help` loads nothing else. */
import type { Command } from "commander";

export interface GlobalOptions {
  readonly dataDir?: string;
  readonly baseUrl?: string;
  readonly serviceName?: string;
  readonly mirror?: string;
  readonly account?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

export function addGlobalOptions(command: Command): Command {
  return command
    .option("--data-dir <dir>", "where mirrors are kept (ARMOIRE_DATA_DIR)")
    .option("--base-url <url>", "the service's root (ARMOIRE_BASE_URL)")
    .option("--service-name <name>", "the vendor's word in <name>_url (ARMOIRE_SERVICE_NAME)")
    .option("--mirror <file>", "the mirror's file, instead of the one in the data directory")
    .option("--account <name>", "the mirror of this account, instead of the catalogue's")
    .option("--config <file>", "a JSON file with baseUrl, serviceName, dataDir")
    .option("--json", "print one JSON document instead of text")
    .option("--quiet", "no progress and no remarks")
    .option("--verbose", "show what an error was caused by");
}
