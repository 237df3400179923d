import { existsSync, statSync } from "node:fs";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { noResponse } from "../../../src/service/requests/rate-limiter.ts";
import { type Ledger, openLedger } from "../../../src/sync/rate-limit/ledger.ts";
import { readLedger } from "../../../src/sync/rate-limit/window.ts";
import { lease, settle } from "../../../src/sync/rate-limit/window-events.ts";
import { expectClosed } from "../../support/canary.ts";
import { makeLedgerFolder } from "../support/ledger-folder.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const hour = 3_600_000;
const origin = "https://api.example";
const principal = { origin, credential: null };

/** One request from lease to settlement, after which so many remain. */
function spend(ledger: Ledger, remaining: number): void {
  ledger.update((state) => {
    const leased = lease(state, ledger.session, 1);
    const allowance = { limit: 30, remaining, resetAt: now + hour };
    const report = { ...noResponse, status: 200, allowance };
    return { state: settle(leased.state, { lease: leased.lease, isRoot: false, report }, now), result: null };
  }, now);
}

describe("a ledger", () => {
  it("is what was known, when it is opened again", async () => {
    await using folder = await makeLedgerFolder();
    const first = openLedger({ ...folder, principal });
    spend(first, 12);
    first.close();
    const known = { limit: 30, remaining: 12, resetAt: now + hour, isTold: true, isBoundless: false };
    const prices = { isFree304: null, isFreeRoot: null, checkPrice: "free", isBodyOfUse: false };
    expect(readLedger(folder.file, principal, now)).toEqual({ ...known, ...prices });
  });

  it("expects the whole limit once the window is over", async () => {
    await using folder = await makeLedgerFolder();
    const ledger = openLedger({ ...folder, principal });
    spend(ledger, 0);
    ledger.close();
    const known = readLedger(folder.file, principal, now + hour);
    expect(known).toMatchObject({ limit: 30, remaining: 30, isTold: false });
  });

  it("keeps every service's and every credential's allowance apart, and no credential", async () => {
    await using folder = await makeLedgerFolder();
    const secret = "canary-51d7";
    const principals = [
      principal,
      { origin, credential: bearerToken(secret) },
      { origin: "https://other.example", credential: null },
    ];
    for (const [remaining, principal] of principals.entries()) {
      const ledger = openLedger({ ...folder, principal });
      spend(ledger, remaining);
      ledger.close();
    }
    const known = principals.map((principal) => readLedger(folder.file, principal, now)?.remaining);
    expect(known).toEqual([0, 1, 2]);
    expect((await readFile(folder.file)).includes(secret)).toBe(false);
  });

  it("is private, and reading makes none", async () => {
    await using folder = await makeLedgerFolder();
    expect(readLedger(folder.file, principal, now)).toBeNull();
    expect(existsSync(folder.file)).toBe(false);
    const ledger = openLedger({ ...folder, principal });
    spend(ledger, 5);
    for (const suffix of ["", "-wal", "-shm"])
      expect(statSync(folder.file + suffix).mode & 0o777).toBe(0o600);
    expect(readLedger(folder.file, { ...principal, origin: "https://other.example" }, now)).toBeNull();
    ledger.close();
  });
});

describe("a session whose process has died", () => {
  it.each([
    ["is not running any more", { pid: 2 ** 22 + 1, host: hostname(), age: 0 }, true],
    ["had the number that this one has", { pid: process.pid, host: hostname(), age: 0 }, true],
    ["is on another machine, unseen for a day", { pid: 1, host: "elsewhere", age: 25 * hour }, true],
    [
      "is on another machine, from what the clock says is the future",
      { pid: 1, host: "elsewhere", age: -25 * hour },
      true,
    ],
    ["is on another machine, seen just now", { pid: 1, host: "elsewhere", age: hour }, false],
    ["is running", { pid: process.ppid, host: hostname(), age: 0 }, false],
  ])("is known by that it %s", async (_what, { pid, host, age }, isDead) => {
    await using folder = await makeLedgerFolder();
    const ledger = openLedger({ ...folder, principal });
    spend(ledger, 20);
    ledger.update((state) => ({ state: lease(state, "other", 3).state, result: null }), now);
    const db = new Database(folder.file);
    db.prepare("insert into session values ('other', ?, ?, ?)").run(pid, host, now - age);
    db.close();
    const { state } = ledger.update((state) => ({ state, result: null }), now);
    expect(state.open).toEqual(isDead ? {} : { other: 3 });
    expect(state.untold.requests).toBe(isDead ? 3 : 0);
    expect(readLedger(folder.file, principal, now)?.remaining).toBe(17);
    ledger.close();
  });
});

it("forgets sessions that are dead, also those that hold nothing", async () => {
  await using folder = await makeLedgerFolder();
  openLedger({ ...folder, principal }).close();
  const db = new Database(folder.file);
  const insert = db.prepare("insert into session values (?, ?, ?, ?)");
  insert.run("dead", 2 ** 22 + 1, hostname(), now);
  insert.run("alive", process.ppid, hostname(), now);
  const ledger = openLedger({ ...folder, principal });
  ledger.update((state) => ({ state, result: null }), now);
  expect(db.prepare("select id from session").pluck().all()).toEqual(["alive"]);
  ledger.close();
  db.close();
});

describe("a file that is no ledger", () => {
  const open = (file: string) => () => openLedger({ file, principal }).close();

  it("is refused and stays as it is", async () => {
    await using folder = await makeLedgerFolder();
    await writeFile(folder.file, "something else, long enough to be looked at".repeat(100));
    const before = await readFile(folder.file);
    expect(open(folder.file)).toThrow(expect.objectContaining({ code: "not-a-ledger", file: folder.file }));
    expect(await readFile(folder.file)).toEqual(before);
  });

  it("is refused when it is another program's database", async () => {
    await using folder = await makeLedgerFolder();
    new Database(folder.file).exec("create table theirs (id)").close();
    const before = await readFile(folder.file);
    expect(open(folder.file)).toThrow(expect.objectContaining({ code: "not-a-ledger" }));
    expect(() => readLedger(folder.file, principal, now)).toThrow(
      expect.objectContaining({ code: "not-a-ledger" }),
    );
    expect(await readFile(folder.file)).toEqual(before);
  });

  it("is refused when a later version made it", async () => {
    await using folder = await makeLedgerFolder();
    open(folder.file)();
    const db = new Database(folder.file);
    db.pragma("user_version = 2");
    db.close();
    expect(open(folder.file)).toThrow(expect.objectContaining({ code: "newer" }));
  });

  it.each([
    ["cut short", (file: string) => truncate(file, 5000)],
    [
      "written over",
      async (file: string) => {
        const db = new Database(file);
        db.exec("update window set state = '{'").close();
      },
    ],
  ])("is said to be damaged when it was %s, with what deleting it costs", async (_what, damage) => {
    await using folder = await makeLedgerFolder();
    const ledger = openLedger({ ...folder, principal });
    spend(ledger, 5);
    ledger.close();
    expectClosed(folder.file);
    await damage(folder.file);
    expect(() => {
      const again = openLedger({ ...folder, principal });
      try {
        spend(again, 4);
      } finally {
        again.close();
      }
    }).toThrow(
      expect.objectContaining({ code: "damaged", hint: expect.stringMatching(/safe to delete.*allowance/) }),
    );
  });

  it("is taken for new when it is empty, as a process that died at once leaves it", async () => {
    await using folder = await makeLedgerFolder();
    await writeFile(folder.file, "");
    expect(readLedger(folder.file, principal, now)).toBeNull();
    open(folder.file)();
  });

  it("is refused in one line when it cannot be made", async () => {
    await using folder = await makeLedgerFolder();
    await writeFile(folder.file, "");
    expect(open(`${folder.file}/ledger.sqlite`)).toThrow(expect.objectContaining({ code: "unwritable" }));
  });
});
