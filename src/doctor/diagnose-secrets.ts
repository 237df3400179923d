import type { Diagnosis } from "./diagnosis.ts";
import { type FoundSecret, findSecrets, type KnownSecret } from "./find-secrets.ts";

const placeWords: Readonly<Record<FoundSecret["in"], string>> = {
  file: "is in",
  name: "is in the name of",
  body: "is in what the service sent, kept in",
};

/** What the search for secrets in folders says: one line if all is well, else one for each file and secret. */
export async function diagnoseSecrets(
  folders: readonly string[],
  secrets: readonly KnownSecret[],
): Promise<Diagnosis[]> {
  if (secrets.length === 0)
    return [{ isWell: true, what: "No secret is known that could be searched for", hint: null }];
  const { files, found, unread } = await findSecrets(folders, secrets);
  const leaks = found.map(({ file, what, form, in: place }) => ({
    isWell: false,
    what: `The ${what} ${placeWords[place]} ${file} (${form})`,
    hint: "Have the service revoke it and give you another; then remove the file, and its copies.",
  }));
  const gaps = unread.map(({ path, why }) => ({
    isWell: false,
    what: `${path} could not be searched (${why})`,
    hint: "Check its permissions.",
  }));
  if (leaks.length + gaps.length > 0) return [...leaks, ...gaps];
  const names = secrets.map(({ what }) => what).join(", ");
  return [{ isWell: true, what: `None of ${files} files holds a known secret (${names})`, hint: null }];
}
