/** The passphrase of backups, from where others do not see it: a file of one's own, the environment, or a prompt; never an option. */
import type { Command } from "commander";
import { type AskPassphrase, withPassphrase } from "../../archive/container/open.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { readSecretFile } from "./credentials.ts";

export interface PassphraseFlags {
  readonly passphraseFile?: string;
}

export interface EncryptFlags extends PassphraseFlags {
  readonly encrypt?: boolean;
}

export function addPassphraseOption(command: Command): Command {
  return command.option("--passphrase-file <file>", "the passphrase, in a file that only you may read");
}

export function addEncryptOptions(command: Command): Command {
  return addPassphraseOption(command.option("--encrypt", "so that nobody reads it without a passphrase"));
}

/** For a new backup; nothing where it is not to be encrypted. @throws CliError, AccountError `unsafe` */
export async function readNewPassphrase(flags: EncryptFlags, io: Io): Promise<{ passphrase?: string }> {
  if (!flags.encrypt) {
    if (flags.passphraseFile === undefined) return {};
    throw new CliError("usage", "--passphrase-file is of no use here without --encrypt.", "");
  }
  const given = readGiven(flags, io);
  if (given !== null) return { passphrase: given };
  const { ask } = io;
  if (ask === null) throw nobodyToAsk();
  const passphrase = await askOnce(ask, "Passphrase for the backup (not shown): ");
  const again = await askOnce(ask, "Once more: ");
  if (passphrase === again) return { passphrase };
  throw new CliError("usage", "The two passphrases differ.", "Nothing was written. Try again.");
}

/** For one that is there: asked for once, and only where it is needed. */
export function passphraseAsker(flags: PassphraseFlags, io: Io): AskPassphrase {
  let asked: Promise<string> | null = null;
  const find = async () => {
    const given = readGiven(flags, io);
    if (given !== null) return given;
    if (io.ask === null) throw nobodyToAsk();
    return await askOnce(io.ask, "Passphrase of the backup (not shown): ");
  };
  return () => {
    asked ??= find();
    return asked;
  };
}

/** For many, of which some may need one: nobody is asked. @throws CliError, AccountError `unsafe` */
export function readKnownPassphrase(flags: PassphraseFlags, io: Io): { askPassphrase?: AskPassphrase } {
  return withPassphrase(readGiven(flags, io) ?? undefined);
}

function readGiven({ passphraseFile }: PassphraseFlags, { env }: Io): string | null {
  if (passphraseFile === undefined) return env.ARMOIRE_BACKUP_PASSPHRASE || null;
  const text = readSecretFile(passphraseFile, "--passphrase-file", env);
  // Editors end a file with a line end; it is no part of the passphrase.
  return requireSome(text.replace(/\r?\n$/, ""));
}

async function askOnce(ask: NonNullable<Io["ask"]>, text: string): Promise<string> {
  return requireSome((await ask({ text, isSecret: true })) ?? "");
}

function requireSome(passphrase: string): string {
  if (passphrase !== "") return passphrase;
  throw new CliError("usage", "The passphrase is empty.", "Take four or five words that nobody would guess.");
}

function nobodyToAsk(): CliError {
  return new CliError(
    "settings",
    "There is no passphrase, and nobody to ask for it.",
    "Give it with --passphrase-file FILE or in ARMOIRE_BACKUP_PASSPHRASE; never as an argument.",
  );
}
