import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, it } from "vitest";
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
