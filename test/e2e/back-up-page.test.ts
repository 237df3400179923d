import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { testPassphrase } from "../support/canary.ts";
import { shellCommandsIn } from "../support/markdown.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

it("all commands of docs/back-up-your-data.md succeed in the order of the page", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ users: 1, brands: 2, models: 4, sizes: 8, allowance: 5000 });
  const page = readFileSync(join(import.meta.dirname, "../../docs/back-up-your-data.md"), "utf8");
  const executed: string[] = [];
  const checkSection = /^## 6\..*?(?=^## 7\.)/ms.exec(page)?.[0] ?? "";
  const [pageBefore = "", removal = ""] = page.split(/^(?=## Remove the account)/m);
  const commands = [
    ...shellCommandsIn(pageBefore.replaceAll("https://api.example.org/", sandbox.url)),
    // A second backup, and the section on checks again: these are done regularly.
    ...[["armoire", "backup", "--account", "ada", "--to", "backups"], ...shellCommandsIn(checkSection)],
    ...shellCommandsIn(removal),
  ];
  for (const [program, ...args] of commands) {
    if (program === "mkdir") mkdirSync(join(folder.path, args.join()));
    if (program !== "armoire") continue;
    const answers: Readonly<Record<string, readonly string[]>> = {
      // Only previewed: the test must not change this machine.
      "schedule install": ["--dry-run"],
      // Replaces the name that the user types.
      "account remove": ["--yes"],
    };
    const more = answers[args.slice(0, 2).join(" ")] ?? [];
    const { stdout, stderr, exitCode } = await callArmoire([...args, ...more], {
      env: {
        ARMOIRE_DATA_DIR: join(folder.path, "data"),
        // Replaces the user's input at the prompts.
        ...(args[0] === "account" && { ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" }),
        ...(args.includes("--encrypt") && { ARMOIRE_BACKUP_PASSPHRASE: testPassphrase }),
      },
      cwd: folder.path,
    });
    expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr });
    expect(stdout).not.toBe("");
    if (args.join(" ").startsWith("backup --account"))
      expect(stdout).toContain("It was verified after writing.");
    if (args[1] === "remove") expect(stderr).toMatch(/^The schedule [a-z-]+ still uses this account; /);
    executed.push(args.slice(0, 2).join(" "));
  }
  expect(executed).toEqual(
    expect.arrayContaining([
      "account add",
      "account remove",
      "backup --account",
      "backup list",
      "backup prune",
      "backup verify",
      "backup restore",
      "schedule add",
      "schedule install",
    ]),
  );
  expect(
    readFileSync(join(folder.path, "ada-files/tables/bra.csv"), "utf8").split("\n").length,
  ).toBeGreaterThan(20);
});
