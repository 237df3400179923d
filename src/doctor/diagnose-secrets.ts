import type { Diagnosis } from "./diagnose.ts";
import { type FindSecretsOptions, type FoundSecret, findSecrets, type KnownSecret } from "./find-secrets.ts";

const placeTexts: Readonly<Record<FoundSecret["in"], string>> = {
  file: "is in",
  name: "is in the name of",
  body: "is in a response of the service, stored in",
  archive: "is in the archive",
};

/** Reports a search for secrets: one diagnosis per leak, or one if none is found. Contents not searched are listed too. */
export async function diagnoseSecrets(
  folders: readonly string[],
  secrets: readonly KnownSecret[],
  options: FindSecretsOptions = {},
): Promise<Diagnosis[]> {
  if (secrets.length === 0)
    return [{ isOk: true, message: "No secret is configured that could be searched for", hint: null }];
  const search = await findSecrets(folders, secrets, options);
  const leaks = search.found.map(({ file, label, form, in: place }) => ({
    isOk: false,
    message: `The ${label} ${placeTexts[place]} ${file} (${form})`,
    hint: "Replace the secret: revoke a token at the service, or make new backups with another passphrase. Then remove the file and its copies.",
  }));
  const failures = search.unreadable.map(({ path, why }) => ({
    isOk: false,
    message: `${path} could not be read (${why})`,
    hint: "Check its permissions.",
  }));
  // The user may have encrypted it: not a fault, but the report must not claim that it was searched.
  const skipped = search.unsearched.map(({ path, why }) => ({
    isOk: true,
    message: `Part of ${path} was not searched: ${why}`,
    hint: null,
  }));
  if (leaks.length + failures.length > 0) return [...leaks, ...failures, ...skipped];
  const { files, otherItems } = search;
  const inFolders = search.folders.length === 0 ? "" : ` in ${search.folders.join(", ")}`;
  const inRedis = otherItems === 0 ? "" : ` and ${count(otherItems, "key")} in Redis`;
  const names = secrets.map(({ label }) => label).join(", ");
  const message = `No known secret was found in ${count(files, "file")}${inFolders}${inRedis}; searched for: ${names}`;
  return [...skipped, { isOk: true, message, hint: null }];
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
