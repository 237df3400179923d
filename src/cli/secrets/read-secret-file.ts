import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import { readPrivateFile } from "../../accounts/private-file.ts";
import { CliError, exitCodes } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";

/**
 * A secret from a file that only its owner may read. What there is no such file of may be the secret itself, and is not shown.
 * @param from the option or variable that names the file
 * @throws CliError, AccountError `unsafe`
 */
export function readSecretFile(file: string, from: string, env: Io["env"]): string {
  const path = resolve(file);
  // Where systemd puts what `LoadCredential=` names.
  const { CREDENTIALS_DIRECTORY: folder } = env;
  const isHandedOver = folder !== undefined && path.startsWith(`${resolve(folder)}${sep}`);
  const text = existsSync(path) ? readPrivateFile(path, { followsLinks: true, isHandedOver }) : null;
  if (text !== null) return text;
  throw new CliError(exitCodes.settings, `The file that ${from} names is not there.`, "Check its path.");
}
