/** The output of `armoire` without arguments for new users: the first steps. */
import type { Command } from "commander";
import { listAccountNames } from "../../accounts/accounts.ts";
import { ArmoireError } from "../../platform/errors.ts";
import type { Io } from "../terminal/io.ts";
import { candidateMirrorFiles } from "./mirror-file.ts";
import { readSettings } from "./settings.ts";

/** @returns null if there is a base URL, a mirror or an account, or if the settings are wrong */
export function introduction(program: Command, io: Io): string | null {
  if (!isFirstStart(program, io)) return null;
  // Without an installation, the shell knows no `armoire`.
  const name = io.env.npm_command === "exec" ? "npx armoire" : "armoire";
  const url = "http://127.0.0.1:8080/";
  return `Armoire keeps an offline mirror of a hypermedia bra catalogue in plain SQLite files.
There is no mirror yet, and no service is set. Take a tour with an invented service:

  ${name} sandbox --port 8080             (in a terminal of its own)
  ${name} sync --base-url ${url}
  ${name} serve --open

For a real service, give its URL to \`sync\`, or set ARMOIRE_BASE_URL, and sync every day.
\`${name} doctor\` checks the set-up, and \`${name} --help\` lists all commands.
`;
}

function isFirstStart(program: Command, io: Io): boolean {
  try {
    const settings = readSettings(program, io);
    if (settings.baseUrl.value !== null) return false;
    return (
      candidateMirrorFiles(settings).length === 0 && listAccountNames(settings.dataDir.value).length === 0
    );
  } catch (error) {
    // The command that needs the setting says what is wrong with it.
    if (error instanceof ArmoireError) return false;
    throw error;
  }
}
