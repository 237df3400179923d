import { existsSync, statSync } from "node:fs";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { noResponse } from "../../../src/service/requests/rate-limiter.ts";
import { readLedger } from "../../../src/sync/rate-limit/known-allowance.ts";
import { type Ledger, openLedger } from "../../../src/sync/rate-limit/store/ledger-store.ts";
import { ledgerMigrations } from "../../../src/sync/rate-limit/store/migrations.ts";
import { lease, releaseLease } from "../../../src/sync/rate-limit/window-events.ts";
import { expectUnreadable } from "../../support/canary.ts";
import { makeLedgerFolder } from "../support/ledger-folder.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const hour = 3_600_000;
const origin = "https://api.example";
const principal = { origin, credential: null };

/** Leases one request and releases it with this remaining count. */
function spend(ledger: Ledger, remaining: number): void {
  ledger.update((state) => {
    const leased = lease(state, ledger.session, 1);
    const allowance = { limit: 30, remaining, resetAt: now + hour };
    const report = { ...noResponse, status: 200, allowance };
    const release = { lease: leased.lease, isRoot: false, report };
    return { state: releaseLease(leased.state, release, now), result: null };
  }, now);
}

async function openAndClose(file: string): Promise<void> {
  const ledger = await openLedger({ file, principal });
  ledger.close();
}

describe("content", () => {
  it("a ledger remembers the allowance after it is closed", async () => {
    await using folder = await makeLedgerFolder();
    const ledger = await openLedger({ ...folder, principal });
    spend(ledger, 12);
    ledger.close();
    const known = { limit: 30, remaining: 12, resetAt: now + hour, windowSeconds: null };
    const reports = { isReported: true, isUnlimited: false };
    const prices = { isFree304: null, isFreeRoot: null, checkPrice: "free", isBodyUseful: false };
    expect(readLedger(folder.file, principal, now)).toEqual({ ...known, ...reports, ...prices });
  });

  it("a ledger expects the whole limit after the reset", async () => {
    await using folder = await makeLedgerFolder();
    const ledger = await openLedger({ ...folder, principal });
    spend(ledger, 0);
    ledger.close();
    const known = readLedger(folder.file, principal, now + hour);
    expect(known).toMatchObject({ limit: 30, remaining: 30, isReported: false });
  });

  it("a ledger separates the allowances of services and credentials, and stores no credential", async () => {
    await using folder = await makeLedgerFolder();
    const secret = "canary-51d7";
    const principals = [
      principal,
      { origin, credential: bearerToken(secret) },
      { origin: "https://other.example", credential: null },
    ];
    for (const [remaining, principal] of principals.entries()) {
      const ledger = await openLedger({ ...folder, principal });
      spend(ledger, remaining);
      ledger.close();
    }
    const known = principals.map((principal) => readLedger(folder.file, principal, now)?.remaining);
    expect(known).toEqual([0, 1, 2]);
    expect((await readFile(folder.file)).includes(secret)).toBe(false);
  });

  it("a ledger is readable by its owner only, and is not created by reading", async () => {
    await using folder = await makeLedgerFolder();
    expect(readLedger(folder.file, principal, now)).toBeNull();
    expect(existsSync(folder.file)).toBe(false);
    const ledger = await openLedger({ ...folder, principal });
    spend(ledger, 5);
    for (const suffix of ["", "-wal", "-shm"])
      expect(statSync(folder.file + suffix).mode & 0o777).toBe(0o600);
    expect(readLedger(folder.file, { ...principal, origin: "https://other.example" }, now)).toBeNull();
    ledger.close();
  });
});

describe("migrations", () => {
  it("the ledger's migrations are applied once each, also when several runs of a process open a new ledger at once", async () => {
    await using folder = await makeLedgerFolder();
    await Promise.all([1, 2, 3].map(() => openAndClose(folder.file)));
    await openAndClose(folder.file);
    const db = new Database(folder.file, { readonly: true });
    expect(db.prepare("select name from _migration").pluck().all()).toEqual(Object.keys(ledgerMigrations));
    db.close();
  });
});

it.each([
  ["that no longer runs", { pid: 2 ** 22 + 1, host: hostname(), age: 0 }, true],
  ["that had the id of this one", { pid: process.pid, host: hostname(), age: 0 }, true],
  ["on another machine, last seen a day ago", { pid: 1, host: "elsewhere", age: 25 * hour }, true],
  ["on another machine, last seen a day in the future", { pid: 1, host: "elsewhere", age: -25 * hour }, true],
  ["on another machine, seen lately", { pid: 1, host: "elsewhere", age: hour }, false],
  ["that runs", { pid: process.ppid, host: hostname(), age: 0 }, false],
])("leases of a process %s are kept or counted as spent", async (_process, { pid, host, age }, isDead) => {
  await using folder = await makeLedgerFolder();
  const ledger = await openLedger({ ...folder, principal });
  spend(ledger, 20);
  ledger.update((state) => ({ state: lease(state, "other", 3).state, result: null }), now);
  const db = new Database(folder.file);
  db.prepare("insert into session values ('other', ?, ?, ?)").run(pid, host, now - age);
  db.close();
  const { state } = ledger.update((state) => ({ state, result: null }), now);
  expect(state.openLeases).toEqual(isDead ? {} : { other: 3 });
  expect(state.unreported.requests).toBe(isDead ? 3 : 0);
  expect(readLedger(folder.file, principal, now)?.remaining).toBe(17);
  ledger.close();
});

it("dead sessions are deleted, also those without leases", async () => {
  await using folder = await makeLedgerFolder();
  await openAndClose(folder.file);
  const db = new Database(folder.file);
  const insert = db.prepare("insert into session values (?, ?, ?, ?)");
  insert.run("dead", 2 ** 22 + 1, hostname(), now);
  insert.run("alive", process.ppid, hostname(), now);
  const ledger = await openLedger({ ...folder, principal });
  ledger.update((state) => ({ state, result: null }), now);
  expect(db.prepare("select id from session").pluck().all()).toEqual(["alive"]);
  ledger.close();
  db.close();
});

describe("invalid files", () => {
  it("a file that cannot be used as a ledger is refused and stays unchanged if it is no SQLite file", async () => {
    await using folder = await makeLedgerFolder();
    await writeFile(folder.file, "something else, long enough to be looked at".repeat(100));
    const before = await readFile(folder.file);
    await expect(openAndClose(folder.file)).rejects.toMatchObject({
      code: "not-a-ledger",
      file: folder.file,
    });
    expect(await readFile(folder.file)).toEqual(before);
  });

  it("a file that cannot be used as a ledger is refused and stays unchanged if it is another program's database", async () => {
    await using folder = await makeLedgerFolder();
    new Database(folder.file).exec("create table theirs (id)").close();
    const before = await readFile(folder.file);
    await expect(openAndClose(folder.file)).rejects.toMatchObject({ code: "not-a-ledger" });
    expect(() => readLedger(folder.file, principal, now)).toThrow(
      expect.objectContaining({ code: "not-a-ledger" }),
    );
    expect(await readFile(folder.file)).toEqual(before);
  });

  it("a file that cannot be used as a ledger is refused if it has a migration of a later version", async () => {
    await using folder = await makeLedgerFolder();
    await openAndClose(folder.file);
    const db = new Database(folder.file);
    db.prepare("insert into _migration values ('9999-later', '')").run();
    db.close();
    await expect(openAndClose(folder.file)).rejects.toMatchObject({ code: "newer" });
    expect(() => readLedger(folder.file, principal, now)).toThrow(expect.objectContaining({ code: "newer" }));
  });

  it.each([
    ["truncated", (file: string) => truncate(file, 5000)],
    [
      "overwritten",
      async (file: string) => {
        const db = new Database(file);
        db.exec("update window set state = '{'").close();
      },
    ],
  ])(
    "a file that cannot be used as a ledger is reported as damaged if it was %s, with the cost of deleting it",
    async (_damage, damage) => {
      await using folder = await makeLedgerFolder();
      const ledger = await openLedger({ ...folder, principal });
      spend(ledger, 5);
      ledger.close();
      expectUnreadable(folder.file);
      await damage(folder.file);
      const spendAgain = async () => {
        const again = await openLedger({ ...folder, principal });
        try {
          spend(again, 4);
        } finally {
          again.close();
        }
      };
      await expect(spendAgain()).rejects.toMatchObject({
        code: "damaged",
        hint: expect.stringMatching(/You can delete it.*allowance/),
      });
    },
  );

  it("an empty file is a new ledger, as a process that died early leaves it", async () => {
    await using folder = await makeLedgerFolder();
    await writeFile(folder.file, "");
    expect(readLedger(folder.file, principal, now)).toBeNull();
    await openAndClose(folder.file);
  });

  it("a file that cannot be used as a ledger is reported as unwritable if it cannot be created", async () => {
    await using folder = await makeLedgerFolder();
    await writeFile(folder.file, "");
    const openBelowFile = openAndClose(`${folder.file}/ledger.sqlite`);
    await expect(openBelowFile).rejects.toMatchObject({ code: "unwritable" });
  });
});
