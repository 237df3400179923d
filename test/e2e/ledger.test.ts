import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Problems of a data directory's ledger, with the exit code and the error. */
const damages: Readonly<Record<string, readonly [(ledger: string, f: Fixture) => void, number, RegExp]>> = {
  "is damaged": [
    (ledger) => {
      const bytes = readFileSync(ledger);
      writeFileSync(ledger, bytes.fill(0xa5, 4096));
    },
    14,
    /The ledger is damaged: .*ledger\.sqlite\nYou can delete it with its -wal and -shm/,
  ],
  "is of a later version": [
    (ledger) => {
      const db = new Database(ledger);
      db.prepare("insert into _migration values ('9999-later', '')").run();
      db.close();
    },
    14,
    /The ledger is from a newer version of Armoire: .*\nInstall a newer Armoire/,
  ],
  "is another program's file": [
    (ledger, f) => copyFileSync(f.otherDatabase, ledger),
    1,
    /This is not a ledger of Armoire: .*\nMove this file away/,
  ],
};

describe.each(Object.entries(damages))("a ledger that %s", (_case, [damage, exitCode, message]) => {
  it.concurrent.each(["sync", "plan", "status"])(
    "%s fails with the matching exit code and hint",
    async (command) => {
      const dataDir = fixture.newPath();
      const settings = ["--data-dir", dataDir, "--base-url", fixture.sandbox.url];
      await callArmoire(["sync", ...settings, "--depth", "brands"]);
      damage(join(dataDir, "ledger.sqlite"), fixture);
      expectRefusal(await callArmoire([command, ...settings]), exitCode, message);
    },
  );
});

it("a folder in place of the ledger is reported as unreadable", async () => {
  const dataDir = fixture.newPath();
  mkdirSync(join(dataDir, "ledger.sqlite"), { recursive: true });
  const settings = ["--data-dir", dataDir, "--base-url", fixture.sandbox.url];
  for (const command of ["sync", "plan"])
    expectRefusal(
      await callArmoire([command, ...settings]),
      1,
      /ledger\.sqlite is a folder, not a regular file\.\nMove it away/,
    );
});

it("a refusal that does not say why is shown by sync, status and runs, also after a sync that sends nothing", async () => {
  await using sandbox = await startSandbox({
    allowanceHeaders: "none",
    spentResponse: "bare-403",
    allowance: 5,
    faults: [{ kind: "rate_limit", times: "always", fault: "status", status: 404 }],
  });
  const settings = ["--data-dir", fixture.newPath(), "--base-url", sandbox.url];
  const refusal =
    /answered 403, “Come back tomorrow”, without saying why; the allowance is spent, or the service blocks this client/;
  for (const run of [1, 2]) {
    expect((await callArmoire(["sync", ...settings])).stdout).toMatch(refusal);
    const { stdout: status } = await callArmoire(["status", ...settings]);
    expect(status).toMatch(RegExp(`\nLast run {3}${run}, .*, stopped: allowance\nReason {5}`));
    expect(status).toMatch(refusal);
    const { stdout: shown } = await callArmoire(["runs", "show", String(run), ...settings]);
    expect(shown).toMatch(/\nThe run ended early: /);
    expect(shown).toMatch(refusal);
  }
  expect(sandbox.log().filter(({ status }) => status === 403).length).toBeLessThanOrEqual(3);
  expect((await callArmoire(["doctor", ...settings])).stdout).toMatch(
    /ledger\.sqlite is readable\n +Allowance: 0 left of \d a day, renewed at /,
  );
});
