/** The search for secrets over all files that tests write: it finds leaks, and fails if it searched almost nothing. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { encrypted } from "../../src/archive/container/encryption.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import {
  expectSecretIn,
  expectUnreadable,
  readCanaryRecord,
  requireNoSecrets,
  testPassphrase,
} from "../support/canary.ts";
import { checkCanaryRecord } from "../support/canary-of-all.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let searched: string;
let record: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  searched = join(folder.path, "searched");
  record = join(folder.path, "record");
});
// Removed before the canary searches this test's own folder.
afterEach(() => {
  rmSync(searched, { recursive: true, force: true });
  return folder[Symbol.asyncDispose]();
});

function write(name: string, content: string | Uint8Array): string {
  const file = join(searched, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const search = () => requireNoSecrets(searched, record).then(() => "no leak", String);

it("a secret that the sandbox issued is found and named, whatever its seed and the secret's encoding", async () => {
  await using sandbox = await startSandbox({ seed: 77, users: 1, brands: 1, models: 1, sizes: 1 });
  const file = write("run.log", Buffer.from(`bearer ${sandbox.users[0]?.token}`).toString("base64"));
  expect(await search()).toContain(`token of a user of the sandbox (base64, in its file): ${file}`);
  write("run.log", sandbox.app.secret);
  expect(await search()).toContain(`application's secret of the sandbox (as it is, in its file): ${file}`);
});

it("a leak is recorded and fails the whole run, as does a whole run that searched almost nothing", async () => {
  write("clean.txt", "nothing here");
  expect(await search()).toBe("no leak");
  expect(() => checkCanaryRecord(readCanaryRecord(record), false)).not.toThrow();
  expect(() => checkCanaryRecord(readCanaryRecord(record), true)).toThrow(/1 files of 12 bytes only/);
  const file = write("a/debug.json", '{"token":"canary-0001"}');
  expect(await search()).toContain(`secret of a test (as it is, in its file): ${file}`);
  expect(readCanaryRecord(record)).toMatchObject({ files: 3, bytes: 47 });
  expect(() => checkCanaryRecord(readCanaryRecord(record), false)).toThrow(file);
});

it("a secret is allowed only in an account's token file and in files that the test names", async () => {
  write("data/accounts/ada/token", "canary-0001");
  const named = write("passphrase", "canary-0001");
  expect(await search()).toContain(named);
  expectSecretIn(named);
  expect(await search()).toBe("no leak");
  const otherNames = ["data/accounts/ada/token.new", "data/accounts/token", "token"];
  const files = otherNames.map((name) => write(name, "canary-0001"));
  const found = await search();
  for (const file of files) expect(found).toContain(file);
});

it("a file that cannot be searched fails, unless the test expects it; the test passphrase is tried", async () => {
  const file = write("a.zip.age", Buffer.from("377abcaf271c0004", "hex"));
  expect(await search()).toContain(
    `could not be searched (it is in a compressed or encrypted format, 7-Zip): ${file}`,
  );
  for (const [content, passphrase, problem] of [
    ["canary-0001", testPassphrase, `secret of a test (encrypted): ${file}`],
    ["nothing here", "another one", "(it is encrypted, and no passphrase was given"],
  ] as const) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of encrypted([Buffer.from(content)], passphrase)) chunks.push(chunk);
    write("a.zip.age", Buffer.concat(chunks));
    expect(await search()).toContain(problem);
  }
  expectUnreadable(file);
  expect(await search()).toBe("no leak");
});
