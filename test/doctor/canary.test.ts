/** The canary over all tests: that it finds what a test leaks, and is not content with having searched nothing. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { encrypted } from "../../src/archive/container/encryption.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import {
  expectClosed,
  expectSecretIn,
  readCanaryRecord,
  requireNoSecrets,
  testPassphrase,
} from "../support/canary.ts";
import { judgeCanary } from "../support/canary-of-all.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let searched: string;
let record: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  searched = join(folder.path, "searched");
  record = join(folder.path, "record");
  mkdirSync(searched);
});
afterEach(() => folder[Symbol.asyncDispose]());

/** Gone again before the canary over this very test looks. */
function leak(name: string, text: string): string {
  const file = join(searched, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const search = () => requireNoSecrets(searched, record).then(() => "nothing", String);

it("what a sandbox of any seed hands out is found in whatever spelling, and told by its name", async () => {
  await using sandbox = await startSandbox({ seed: 77, users: 1, brands: 1, models: 1, sizes: 1 });
  const secrets = [
    [sandbox.users[0]?.token ?? "", "token of a user of the sandbox"],
    [sandbox.app.secret, "application's secret of the sandbox"],
  ] as const;
  for (const [secret, what] of secrets) {
    const file = leak("run.log", Buffer.from(`bearer ${secret}`).toString("base64"));
    expect(await search()).toBe(`Error: Where no secret belongs:\n${what} (base64, in its file): ${file}`);
    rmSync(file);
  }
  expect(await search()).toBe("nothing");
});

it("what a test makes up is found, and fails the run of all tests whatever became of that test", async () => {
  leak("clean.txt", "nothing here");
  expect(await search()).toBe("nothing");
  expect(() => judgeCanary(readCanaryRecord(record), false)).not.toThrow();
  const file = leak("a/debug.json", '{"token":"canary-0001"}');
  expect(await search()).toContain(`secret of a test (as it is, in its file): ${file}`);
  expect(readCanaryRecord(record)).toMatchObject({ files: 3, bytes: 47 });
  expect(() => judgeCanary(readCanaryRecord(record), false)).toThrow(file);
  rmSync(file);
});

it("a secret is well in an account's token file, and in a file that the test named, and nowhere beside", async () => {
  leak("data/accounts/ada/token", "canary-0001");
  const named = leak("passphrase", "canary-0001");
  expect(await search()).toContain(named);
  expectSecretIn(named);
  expect(await search()).toBe("nothing");
  const beside = ["data/accounts/ada/token.new", "data/accounts/token", "token"];
  const files = beside.map((name) => leak(name, "canary-0001"));
  const found = await search();
  for (const file of files) {
    expect(found).toContain(file);
    rmSync(file);
  }
});

it("a run of all tests in which next to nothing was searched fails, a run of some does not", () => {
  const record = { files: 3, bytes: 1_000, leaks: [] };
  expect(() => judgeCanary(record, true)).toThrow(/3 files of 1000 bytes only/);
  expect(() => judgeCanary(record, false)).not.toThrow();
});

it("what nobody can look into fails, unless a test says that it made it so", async () => {
  const file = leak("packed.7z", "");
  writeFileSync(file, Buffer.from("377abcaf271c0004", "hex"));
  expect(await search()).toContain(`could not be looked into (it is packed with 7-Zip): ${file}`);
  expectClosed(file);
  expect(await search()).toBe("nothing");
});

it("what is encrypted is opened with the passphrase of tests, and fails where it holds a secret or another has closed it", async () => {
  const file = join(searched, "a.zip.age");
  const put = async (content: string, passphrase: string) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of encrypted([Buffer.from(content)], passphrase)) pieces.push(piece);
    writeFileSync(file, Buffer.concat(pieces));
  };
  await put("canary-0001", testPassphrase);
  expect(await search()).toContain(`secret of a test (encrypted): ${file}`);
  await put("nothing here", "another one");
  expect(await search()).toContain(`could not be looked into (it is encrypted, and no passphrase was given`);
  rmSync(file);
}, 60_000);
