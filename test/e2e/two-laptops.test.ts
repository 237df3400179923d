/** One user, two computers, one folder of backups: neither computer prunes the only backup of the other's data. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

it("a new mirror does not prune the backups of the old one, and a restored mirror continues them", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ users: 1, brands: 2, models: 4, sizes: 8, allowance: 5000 });
  const to = join(folder.path, "backups");
  mkdirSync(to);
  const env = { ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" };
  const on = async (laptop: string, ...args: readonly string[]): Promise<string> => {
    const dataDir = ["--data-dir", join(folder.path, laptop)];
    const isAdding = args[0] === "account";
    const result = await callArmoire([...args, ...dataDir], isAdding ? { env } : {});
    expect(result).toMatchObject({ exitCode: 0 });
    return result.stdout;
  };
  const backUp = async (laptop: string): Promise<string> => {
    const args = ["backup", "--account", "ada", "--to", to, "--keep-last", "1", "--json"];
    return JSON.parse(await on(laptop, ...args)).backup.file;
  };
  for (const laptop of ["old", "anew", "restored"]) {
    mkdirSync(join(folder.path, laptop), { mode: 0o700 });
    await on(laptop, "account", "add", "ada", "--base-url", sandbox.url);
  }
  await backUp("old");
  const last = await backUp("old");
  await backUp("anew");
  const anew = await backUp("anew");
  expect(readdirSync(to).map((name) => join(to, name))).toEqual([last, anew].sort());
  expect((await on("anew", "backup", "list", to)).match(/ {2}mirror [0-9a-f]{6}$/gm)).toHaveLength(2);

  await on("restored", "backup", "restore", last, "--account", "ada");
  const restored = await backUp("restored");
  expect(readdirSync(to).map((name) => join(to, name))).toEqual([anew, restored].sort());
});
