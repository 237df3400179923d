/** Secrets from files: accepted owners and permissions. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSecretFile } from "../../../src/cli/secrets/credentials.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { withoutPrivileges } from "../../support/without-privileges.ts";

const secret = "what-only-the-service-may-know";
const someoneElse = 12_345;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
  chmodSync(folder.path, 0o755);
});
afterEach(() => folder[Symbol.asyncDispose]());

interface Kept {
  /** Below the test's own folder. */
  readonly path: string;
  readonly mode: number;
  readonly uid?: number;
}

function keep({ path, mode, uid }: Kept): string {
  const file = join(folder.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, secret);
  chmodSync(file, mode);
  if (uid !== undefined) chownSync(file, uid, 0);
  return file;
}

/** As a systemd service with its own user, whose group may read a file of root. */
const readAsService = (path: string, credentials: string | undefined) =>
  withoutPrivileges(async () =>
    readSecretFile(path, "SOME_FILE", {
      CREDENTIALS_DIRECTORY: credentials && join(folder.path, credentials),
    }),
  );

it("a private file of the user is read", async () => {
  const file = keep({ path: "own", mode: 0o600 });
  expect(readSecretFile(file, "SOME_FILE", {})).toBe(secret);
  chmodSync(file, 0o640);
  expect(() => readSecretFile(file, "SOME_FILE", {})).toThrow(`Other users may read or write ${file}`);
});

// Only root can create files of root.
describe.runIf(process.geteuid?.() === 0)("systemd credentials", () => {
  const passedByService: Kept = { path: "credentials/redis-url", mode: 0o440, uid: 0 };

  it("a systemd credential is read although it belongs to another user and a group may read it", async () => {
    expect(await readAsService(keep(passedByService), "credentials")).toBe(secret);
  });

  it.each<{
    readonly place: string;
    readonly file: Partial<Kept>;
    readonly from?: string;
    readonly name?: string;
  }>([
    { place: "in another folder", file: { path: "elsewhere/redis-url" } },
    {
      place: "in a folder whose name only begins with the folder's",
      file: { path: "credentials-too/redis-url" },
    },
    {
      place: "beside the folder, by a path through it",
      file: { path: "redis-url" },
      name: "credentials/../redis-url",
    },
    { place: "given to a service without that folder", file: {}, from: "nowhere" },
    { place: "that others may read", file: { mode: 0o444 } },
    { place: "that a group may write", file: { mode: 0o460 } },
    { place: "of another user", file: { uid: someoneElse } },
  ])("a systemd credential is refused $place", async ({ file, from = "credentials", name }) => {
    const path = keep({ ...passedByService, ...file });
    mkdirSync(join(folder.path, "credentials"), { recursive: true });
    const named = name === undefined ? path : `${folder.path}/${name}`;
    await expect(readAsService(named, from)).rejects.toThrow(/belongs to another user/);
  });

  it("a systemd credential is refused without CREDENTIALS_DIRECTORY", async () => {
    await expect(readAsService(keep(passedByService), undefined)).rejects.toThrow(/belongs to another user/);
  });
});
