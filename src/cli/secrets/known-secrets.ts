/** All secrets that the program can read, for `armoire doctor --scan`. */
import { resolve } from "node:path";
import { accountPlace } from "../../accounts/account.ts";
import { listAccountNames, readAccount } from "../../accounts/accounts.ts";
import { readToken } from "../../accounts/tokens/tokens.ts";
import type { AskPassphrase } from "../../archive/container/open.ts";
import { type Diagnosis, diagnoseError } from "../../doctor/diagnose.ts";
import type { KnownSecret } from "../../doctor/find-secrets.ts";
import { type Credential, digestCredential, hideSecret } from "../../service/credentials/credential.ts";
import type { Settings } from "../settings/settings.ts";
import type { Io } from "../terminal/io.ts";
import { keychainOf, readAppCredential, readTokenOfEnvironment } from "./credentials.ts";
import { type PassphraseFlags, readKnownPassphrase } from "./passphrase.ts";
import { readRedisPassword } from "./redis-address.ts";

export interface KnownSecrets {
  readonly secrets: readonly KnownSecret[];
  /** Secrets that could not be read. */
  readonly problems: readonly Diagnosis[];
  /** Opens backups, if their passphrase is known. */
  readonly askPassphrase?: AskPassphrase;
}

/** A shorter text may occur by chance. */
const minLength = 8;
const tooShort: Diagnosis = {
  isOk: false,
  message: `A passphrase of fewer than ${minLength} characters is not searched for: it may occur by chance`,
  hint: "Use six random words.",
};

/** @param flags may name the file with the passphrase of backups; default: the environment */
export async function readKnownSecrets(
  { dataDir }: Settings,
  flags: PassphraseFlags,
  io: Io,
): Promise<KnownSecrets> {
  const folder = dataDir.value;
  const secrets = new Map<string, KnownSecret>();
  const problems: Diagnosis[] = [];
  const addSecret = async (
    label: string,
    places: readonly (string | undefined)[],
    read: () => Credential | null | Promise<Credential | null>,
  ) => {
    try {
      const credential = await read();
      if (credential === null) return;
      // The same secret may have two sources, and is expected in the places of both.
      const key = digestCredential(credential);
      const known = secrets.get(key) ?? { label, credential, places: [] };
      const own = places.flatMap((place) => (place ? [resolve(place)] : []));
      secrets.set(key, { ...known, places: [...known.places, ...own] });
    } catch (error) {
      problems.push(diagnoseError(error));
    }
  };
  let names: readonly string[] = [];
  try {
    names = listAccountNames(folder);
  } catch (error) {
    problems.push(diagnoseError(error));
  }
  for (const name of names) {
    await addSecret(`token of the account ${name}`, [accountPlace(folder, name).tokenFile], () =>
      readToken(readAccount(folder, name), keychainOf(io)),
    );
  }
  const { ARMOIRE_TOKEN_FILE, ARMOIRE_APP_KEY_FILE, ARMOIRE_APP_SECRET_FILE } = io.env;
  await addSecret("token of the environment", [ARMOIRE_TOKEN_FILE], () => readTokenOfEnvironment(io));
  await addSecret("application's key and secret", [ARMOIRE_APP_KEY_FILE, ARMOIRE_APP_SECRET_FILE], () =>
    readAppCredential(io),
  );
  let askPassphrase: AskPassphrase | undefined;
  try {
    askPassphrase = readKnownPassphrase(flags, io).askPassphrase;
  } catch (error) {
    problems.push(diagnoseError(error));
  }
  const passphrase = await askPassphrase?.();
  if (passphrase !== undefined && passphrase.length < minLength) problems.push(tooShort);
  else if (passphrase !== undefined) {
    const places = flags.passphraseFile === undefined ? [] : [resolve(flags.passphraseFile)];
    secrets.set("passphrase", { label: "passphrase of backups", credential: hideSecret(passphrase), places });
  }
  try {
    const password = readRedisPassword(io);
    if (password !== null && password.length >= minLength) {
      const { ARMOIRE_REDIS_URL_FILE: file } = io.env;
      const places = file ? [resolve(file)] : [];
      secrets.set("redis", { label: "password of Redis", credential: hideSecret(password), places });
    }
  } catch (error) {
    problems.push(diagnoseError(error));
  }
  return { secrets: [...secrets.values()], problems, ...(askPassphrase && { askPassphrase }) };
}
