/** The catalogue's credential, from the environment or from files that it names; never from the command line. */
import { readFileSync } from "node:fs";
import { appCredential, type Credential } from "../service/credential.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import type { Io } from "./io.ts";

/** The application's key and secret; null when neither is set. @throws CliError, ServiceSettingsError */
export function readAppCredential(io: Io): Credential | null {
  const key = readSecret(io, "ARMOIRE_APP_KEY");
  const secret = readSecret(io, "ARMOIRE_APP_SECRET");
  if (key === null && secret === null) return null;
  if (key !== null && secret !== null) return appCredential(key, secret);
  const [set, missing] =
    key === null ? ["ARMOIRE_APP_SECRET", "ARMOIRE_APP_KEY"] : ["ARMOIRE_APP_KEY", "ARMOIRE_APP_SECRET"];
  throw new CliError(
    exitCodes.settings,
    `${set} is set, ${missing} is not.`,
    `Set both, or neither to read without a credential.`,
  );
}

function readSecret(io: Io, name: string): string | null {
  const value = io.env[name];
  if (value !== undefined && value !== "") return value;
  const file = io.env[`${name}_FILE`];
  if (file === undefined || file === "") return null;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CliError(
      exitCodes.settings,
      `The file that ${name}_FILE names cannot be read.`,
      "Check its path and permissions.",
      { cause: error },
    );
  }
}
