/**
 * Searches each folder that Armoire wrote into during a test, before its removal, for the secrets that tests use. All of
 * them have one of two prefixes, so that none is forgotten: the sandbox's own tokens, and secrets that a test makes up,
 * which start with `canary-`.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { accountPlace } from "../../src/accounts/account.ts";
import { withPassphrase } from "../../src/archive/container/open.ts";
import {
  findSecrets,
  type KnownSecret,
  startSearch,
  type UnsearchedContents,
} from "../../src/doctor/find-secrets.ts";
import { listEntries } from "../../src/doctor/list-entries.ts";
import { bearerToken, encodingsOf } from "../../src/service/credentials/credential.ts";

const secrets = [
  { label: "token of a user of the sandbox", beginning: "sandbox-token-" },
  { label: "application's secret of the sandbox", beginning: "sandbox-secret-" },
  { label: "secret of a test", beginning: "canary-" },
].map(({ label, beginning }) => ({ label, credential: bearerToken(beginning) }));

/** The passphrase for all encrypted files that tests leave: trying one takes seconds. */
export const testPassphrase = "canary-correct horse battery staple";

/** Files that may hold a secret. */
const secretFiles = new Set<string>();

/** Allows secrets in this file. */
export function expectSecretIn(file: string): void {
  secretFiles.add(file);
}

/** Files that need not be readable. */
const unreadableFiles = new Set<string>();

/** For a file that a test damages, or compresses or encrypts so that the search cannot read it. */
export function expectUnreadable(file: string): void {
  unreadableFiles.add(file);
}

/** Writes a secret to a file, as a user does. */
export function writeSecretFile(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 });
  expectSecretIn(file);
}

/** The searches of all test processes, and the leaks found. */
export interface CanaryRecord {
  readonly files: number;
  readonly bytes: number;
  readonly leaks: readonly string[];
}

/**
 * @param recordFile receives the numbers of searched files and found secrets; default: the whole suite's, if set
 * @throws Error naming each file and its secret
 */
export async function requireNoSecrets(
  folder: string,
  recordFile = process.env.ARMOIRE_TESTS_CANARY,
): Promise<void> {
  // The test may have removed the folder.
  if (!existsSync(folder)) return;
  const known = knownIn(folder);
  const { files, bytes, found, unreadable, unsearched } = await findSecrets([folder], known);
  const opened = await Promise.all(unsearched.map((file) => searchEncrypted(file, known)));
  const leaks = [
    ...opened.flat(),
    ...found.map(({ label, form, in: place, file }) => `${label} (${form}, in its ${place}): ${file}`),
    ...unreadable.map(({ path, why }) => `could not be searched (${why}): ${path}`),
  ];
  const record: CanaryRecord = { files, bytes, leaks };
  // One short write is atomic, so lines of parallel processes do not mix.
  if (recordFile !== undefined) appendFileSync(recordFile, `${JSON.stringify(record)}\n`);
  if (leaks.length > 0) throw new Error(`Secrets in unexpected places:\n${leaks.join("\n")}`);
}

/** @throws Error naming the secret if the output contains one */
export function requireNoSecretsIn(printed: string, by: readonly string[]): void {
  const patterns = secrets.flatMap(({ label, credential }) =>
    encodingsOf(credential).map((encoding) => ({ ...encoding, label })),
  );
  const search = startSearch(patterns);
  search.add(Buffer.from(printed));
  const [found] = search.found;
  if (found !== undefined)
    throw new Error(`A ${found.label} (${found.form}) was printed by: ${by.join(" ")}`);
}

export function readCanaryRecord(recordFile: string): CanaryRecord {
  const lines = existsSync(recordFile) ? readFileSync(recordFile, "utf8").trim().split("\n") : [];
  const records = lines.filter(Boolean).map((line) => JSON.parse(line) as CanaryRecord);
  return {
    files: records.reduce((sum, { files }) => sum + files, 0),
    bytes: records.reduce((sum, { bytes }) => sum + bytes, 0),
    leaks: records.flatMap(({ leaks }) => leaks),
  };
}

/** Free pages hold old bodies, and no body of the sandbox has a secret; links and pipes are made by tests. */
const ignored: readonly UnsearchedContents["reason"][] = ["free-pages", "link", "special"];

/** Objects of Git, and packages that a test downloads. */
const isCompressedByOthers = (path: string) => path.includes("/.git/objects/") || path.endsWith(".deb");

async function searchEncrypted(
  { path, reason, why }: UnsearchedContents,
  known: readonly KnownSecret[],
): Promise<string[]> {
  if (ignored.includes(reason) || unreadableFiles.has(path) || isCompressedByOthers(path)) return [];
  if (reason === "encrypted") {
    const { found, unsearched } = await findSecrets([path], known, withPassphrase(testPassphrase));
    if (unsearched.length === 0) return found.map(({ label }) => `${label} (encrypted): ${path}`);
  }
  return [`could not be searched (${why}): ${path}`];
}

/** The secrets with the files that may hold them: token files of accounts, and files that tests named. */
function knownIn(folder: string): KnownSecret[] {
  const places = listEntries(folder, [])
    .flatMap(({ path, is }) => (is === "file" ? [path] : []))
    .filter((file) => secretFiles.has(file) || isTokenFile(file));
  return secrets.map((secret) => ({ ...secret, places }));
}

function isTokenFile(file: string): boolean {
  const account = dirname(file);
  const dataDir = join(account, "../..");
  return accountPlace(dataDir, basename(account)).tokenFile === file;
}
