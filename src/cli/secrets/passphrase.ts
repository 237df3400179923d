/** The passphrase of backups, from a private file, the environment or a prompt. It is never an option's value. */
import type { Command } from "commander";
import { requireStrongPassphrase } from "../../archive/container/encryption.ts";
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
  return command.option(
    "--passphrase-file <file>",
    "read the passphrase from a file that only you may read (ARMOIRE_BACKUP_PASSPHRASE)",
  );
}

export function addEncryptOptions(command: Command): Command {
  return addPassphraseOption(command.option("--encrypt", "encrypt with a passphrase, in age format"));
}

/**
 * The passphrase of a new backup; empty without --encrypt.
 * @throws CliError, BackupError `weak-passphrase`, FileError `unsafe`
 */
export async function readNewPassphrase(flags: EncryptFlags, io: Io): Promise<{ passphrase?: string }> {
  if (!flags.encrypt) {
    if (flags.passphraseFile === undefined) return {};
    throw new CliError("usage", "--passphrase-file needs --encrypt.", "Add --encrypt, or leave it out.");
  }
  const given = readGiven(flags, io);
  if (given !== null) {
    requireStrongPassphrase(given);
    return { passphrase: given };
  }
  const { ask } = io;
  if (ask === null) throw noTerminal();
  // Never in a file that stderr goes to: it may become the passphrase.
  if (io.isTerminal) {
    const { suggestPassphrase } = await import("./suggest-passphrase.ts");
    io.err(`A random passphrase, another one each time: ${suggestPassphrase()}\n`);
  }
  const passphrase = await askOnce(ask, "Passphrase for the backup (not shown): ");
  requireStrongPassphrase(passphrase);
  const again = await askOnce(ask, "Repeat the passphrase: ");
  if (passphrase === again) return { passphrase };
  throw new CliError("usage", "The two passphrases differ.", "Nothing was written. Try again.");
}

/** For an existing backup: prompts at most once, and only when the passphrase is needed. */
export function passphraseAsker(flags: PassphraseFlags, io: Io): AskPassphrase {
  let pending: Promise<string> | null = null;
  const find = async () => {
    const given = readGiven(flags, io);
    if (given !== null) return given;
    if (io.ask === null) throw noTerminal();
    return await askOnce(io.ask, "Passphrase of the backup (not shown): ");
  };
  return () => {
    pending ??= find();
    return pending;
  };
}

/** For many backups: never prompts. @throws CliError, FileError `unsafe` */
export function readKnownPassphrase(flags: PassphraseFlags, io: Io): { askPassphrase?: AskPassphrase } {
  return withPassphrase(readGiven(flags, io) ?? undefined);
}

function readGiven({ passphraseFile }: PassphraseFlags, { env }: Io): string | null {
  if (passphraseFile === undefined) return env.ARMOIRE_BACKUP_PASSPHRASE || null;
  const text = readSecretFile(passphraseFile, "--passphrase-file", env);
  // Editors add a line end to a file, which is not part of the passphrase.
  return requireNonEmpty(text.replace(/\r?\n$/, ""));
}

async function askOnce(ask: NonNullable<Io["ask"]>, text: string): Promise<string> {
  return requireNonEmpty((await ask({ text, isSecret: true })) ?? "");
}

function requireNonEmpty(passphrase: string): string {
  if (passphrase !== "") return passphrase;
  throw new CliError("usage", "The passphrase is empty.", "Use six random words.");
}

function noTerminal(): CliError {
  return new CliError(
    "settings",
    "The passphrase is missing, and there is no terminal to ask for it.",
    "Give it with --passphrase-file FILE or in ARMOIRE_BACKUP_PASSPHRASE; never as an argument.",
  );
}
