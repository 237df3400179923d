/** `armoire snapshot key`: makes a key with which a publisher signs, or shows the fingerprint of one. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { createSigningKey, readSigningKey } from "../../../archive/signatures/signing-key.ts";
import { readSettings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

export function configureKey(snapshot: Command, io: Io): void {
  const key = snapshot
    .command("key")
    .description("show the fingerprint of a publisher's private key, or make a key")
    .argument("<file>", "the file of the private key")
    .option("--create", "make a new key in this file, which must not exist")
    .action((file: string, { create = false }: { create?: boolean }, key: Command) =>
      showKey(file, create, key, io),
    );
  addHelp(key, {
    details: [
      "The file holds an Ed25519 key in PEM (PKCS #8) without a passphrase; only you may read it. Anyone who has it can sign as you: " +
        "keep it apart from the published files, and keep a copy. Tell others the fingerprint, 12 words, in another place than " +
        "the files; they give it as --key.",
    ],
    examples: ["armoire snapshot key publisher.pem --create", "armoire snapshot key publisher.pem"],
    exitCodes: exitCodesOfReading,
  });
}

function showKey(file: string, create: boolean, command: Command, io: Io): void {
  const settings = readSettings(command, io);
  const { fingerprint } = create ? createSigningKey(file) : readSigningKey(file);
  const path = resolve(file);
  if (settings.json) io.out(toJsonLine({ file: path, fingerprint, isNew: create }));
  else {
    const made = create ? `Made a private key: ${escapeControls(path)}\n` : "";
    printText(io, `${made}Fingerprint ${fingerprint}\n`);
  }
}
