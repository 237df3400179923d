import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readPrivateFile } from "../accounts/private-file.ts";
import { CliError, exitCodes } from "./exit-codes.ts";

/**
 * A secret from a file that only its owner may read. What there is no such file of may be the secret itself, and is not shown.
 * @param from the option or variable that names the file
 * @throws CliError, AccountError `unsafe`
 */
export function readSecretFile(file: string, from: string): string {
  const text = existsSync(file) ? readPrivateFile(resolve(file), { followsLinks: true }) : null;
  if (text !== null) return text;
  throw new CliError(exitCodes.settings, `The file that ${from} names is not there.`, "Check its path.");
}
