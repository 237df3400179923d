import type { Diagnosis } from "./diagnose.ts";
import { type FindSecretsOptions, type FoundSecret, findSecrets, type KnownSecret } from "./find-secrets.ts";

const placeWords: Readonly<Record<FoundSecret["in"], string>> = {
  file: "is in",
  name: "is in the name of",
  body: "is in what the service sent, kept in",
  archive: "is in what is packed in",
};

/** What the search for secrets in folders says: one line if all is well, else one for each file and secret. */
export async function diagnoseSecrets(
  folders: readonly string[],
  secrets: readonly KnownSecret[],
  options: FindSecretsOptions = {},
): Promise<Diagnosis[]> {
  if (secrets.length === 0)
    return [{ isWell: true, what: "No secret is known that could be searched for", hint: null }];
  const search = await findSecrets(folders, secrets, options);
  const { files, others, found, unread, closed } = search;
  const leaks = found.map(({ file, what, form, in: place }) => ({
    isWell: false,
    what: `The ${what} ${placeWords[place]} ${file} (${form})`,
    hint: "Have the service revoke it and give you another, or make backups with another passphrase; then remove the file, and its copies.",
  }));
  const gaps = unread.map(({ path, why }) => ({
    isWell: false,
    what: `${path} could not be searched (${why})`,
    hint: "Check its permissions.",
  }));
  // A file that its owner has closed is no fault, but nobody is to believe that it was searched.
  const rest = closed.map(({ path, why }) => ({
    isWell: true,
    what: `Not all of ${path} could be searched: ${why}`,
    hint: null,
  }));
  if (leaks.length + gaps.length > 0) return [...leaks, ...gaps, ...rest];
  const names = secrets.map(({ what }) => what).join(", ");
  const beside = others === 0 ? "" : `, and none of ${others} keys in Redis,`;
  const where = search.folders.length === 0 ? "" : ` in ${search.folders.join(", ")}`;
  const what = `None of ${files} files${where}${beside} holds a known secret (${names})`;
  return [...rest, { isWell: true, what, hint: null }];
}
