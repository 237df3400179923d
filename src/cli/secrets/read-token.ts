/** A user's token, from where others do not see it: a prompt, standard input, a file of her own, or the environment. */
import { bearerToken, type Credential } from "../../service/credentials/credential.ts";
import { CliError, exitCodes } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { readSecretFile } from "./read-secret-file.ts";

export interface TokenFlags {
  readonly tokenStdin?: boolean;
  readonly tokenFile?: string;
}

/** Flags beat the environment, which beats asking. @throws CliError, AccountError `unsafe`, ServiceSettingsError */
export async function readGivenToken(flags: TokenFlags, name: string, io: Io): Promise<Credential> {
  return bearerToken((await readText(flags, name, io)).trim());
}

/** Null where the environment has none. @throws CliError, AccountError `unsafe`, ServiceSettingsError */
export function readTokenOfEnvironment(io: Io): Credential | null {
  const text = readEnvironment(io);
  return text === null ? null : bearerToken(text.trim());
}

async function readText({ tokenStdin, tokenFile }: TokenFlags, name: string, io: Io): Promise<string> {
  // On a terminal, what is typed would be shown.
  if (tokenStdin) return io.ask === null ? await io.readInput() : await ask(name, io.ask);
  if (tokenFile !== undefined) return readSecretFile(tokenFile, "--token-file", io.env);
  const text = readEnvironment(io);
  if (text !== null) return text;
  if (io.ask !== null) return await ask(name, io.ask);
  throw new CliError(
    exitCodes.settings,
    "There is no token, and nobody to ask for it.",
    "Give it with --token-stdin, --token-file FILE or ARMOIRE_TOKEN; never as an argument.",
  );
}

function readEnvironment({ env }: Io): string | null {
  const { ARMOIRE_TOKEN: token, ARMOIRE_TOKEN_FILE: file } = env;
  if (token) return token;
  return file ? readSecretFile(file, "ARMOIRE_TOKEN_FILE", env) : null;
}

async function ask(name: string, question: NonNullable<Io["ask"]>): Promise<string> {
  const text = await question({ text: `Token for ${name} (not shown): `, isSecret: true });
  if (text) return text;
  throw new CliError(exitCodes.usage, "No token was given.", "Paste it at the prompt, then press Enter.");
}
