/** `armoire backup --quiet` for timers that mail any output: it prints nothing without a problem. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type CommandResult, callArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

let place: string;
let places = 0;
beforeEach(() => {
  place = join(folder.path, String(++places));
  mkdirSync(place, { recursive: true });
  mkdirSync(join(place, "data"), { mode: 0o700 });
});

const armoire = (args: readonly string[], env = {}): Promise<CommandResult> =>
  callArmoire([...args, "--data-dir", join(place, "data")], { env });

/** Makes a backup in a new folder. */
let backups: string;
let folders = 0;
function backUp(...more: readonly string[]): Promise<CommandResult> {
  backups = join(place, `backups-${++folders}`);
  mkdirSync(backups);
  return armoire(["backup", "--account", "ada", "--to", backups, ...more]);
}

async function addAda(sandbox: Sandbox): Promise<string> {
  const [{ username, token } = { username: "", token: "" }] = sandbox.users;
  const args = ["account", "add", "ada", "--base-url", sandbox.url];
  expect(await armoire(args, { ARMOIRE_TOKEN: token })).toMatchObject({ exitCode: 0 });
  return username;
}

const small = { users: 1, brands: 2, models: 4, sizes: 8 } as const;

it("an unattended backup prints one line about an incomplete backup", async () => {
  await using sandbox = await startSandbox({ ...small, allowance: 25 });
  await addAda(sandbox);
  const first = await backUp("--quiet");
  expect(first).toMatchObject({ exitCode: 0, stdout: "" });
  expect(first.stderr).toMatch(/^armoire: backup of ada: Not complete: \d+ bras are listed[^\n]*\n$/);
  const [name = ""] = readdirSync(backups);
  const file = join(backups, name);
  for (const args of [
    ["verify", file],
    ["list", backups],
  ])
    expect((await armoire(["backup", ...args])).stdout).toMatch(/\d+ of 30 bras.*not complete/);
});

describe("complete mirror", () => {
  let sandbox: Sandbox;
  let username: string;
  beforeEach(async () => {
    sandbox = await startSandbox({ ...small, allowance: 5000 });
    username = await addAda(sandbox);
    expect(await backUp("--quiet")).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    return () => sandbox.close();
  });

  it("an unattended backup prints a line about partly missing linked resources, and none if all or none are there", async () => {
    const silent = { exitCode: 0, stdout: "", stderr: "" };
    expect(await backUp("--quiet")).toEqual(silent);
    sandbox.setFaults([{ kind: "size", positions: [2], times: "always", fault: "not-json" }]);
    expect((await backUp("--quiet", "--with-catalogue")).stderr).toMatch(
      /^armoire: backup of ada: Not complete: 1 of \d+ brands, models and sizes of the bras missing \(--with-catalogue fetches them\)\.$/m,
    );
    sandbox.setFaults([]);
    expect(await backUp("--quiet", "--with-catalogue")).toEqual(silent);
    expect(await backUp("--quiet")).toEqual(silent);
  });

  it("an unattended backup prints a line about failed resources", async () => {
    sandbox.setFaults([{ kind: "bra", positions: [2], times: "always", fault: "not-json" }]);
    expect(await backUp("--quiet")).toEqual({
      ...{ exitCode: 3, stdout: "" },
      stderr: expect.stringMatching(/^armoire: sync of ada: 1 failed;[^\n]*\n$/),
    });
  });

  it("an unattended backup prints a line about removals that wait for approval", async () => {
    sandbox.editUser(username, { bras: 5 });
    expect(await backUp("--quiet")).toEqual({
      ...{ exitCode: 12, stdout: "" },
      stderr: expect.stringMatching(
        /^armoire: sync of ada: Waiting for approval, 25 in all[^\n]*\narmoire: backup of ada: Not complete: 25 absent[^\n]*\n$/,
      ),
    });
  });

  it("an unattended backup prints a line about a withdrawn permission every time", async () => {
    sandbox.editUser(username, { scopes: ["identity", "email", "measurements"] });
    for (const command of ["backup", "sync", "backup"]) {
      const { stdout, stderr } = await (command === "sync"
        ? armoire(["sync", "--account", "ada", "--quiet"])
        : backUp("--quiet"));
      expect({ stdout, stderr }).toEqual({
        stdout: "",
        stderr: expect.stringMatching(
          /^armoire: sync of ada: No longer granted to this token: bras\.[^\n]*\n$/,
        ),
      });
    }
  });
});
