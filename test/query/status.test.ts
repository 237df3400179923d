import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { openMirrorReader, readMirror } from "../../src/mirror/reader.ts";
import { readStatus } from "../../src/query/status/status.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { bearerToken } from "../../src/service/credentials/credential.ts";
import { sync } from "../../src/sync/sync.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../mirror/support/world.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const folder = await temporaryFolder();
const file = join(folder.path, "catalogue.sqlite");
const sandbox = await startSandbox({ brands: 8, models: 12, sizes: 20 });
await sync({ file, baseUrl: sandbox.url });
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

/** Changes the mirror as an open run does: what earlier runs have counted does not hold any more. */
function change(sql: string, ...values: readonly unknown[]): void {
  const db = new Database(file);
  db.prepare(sql).run(...values);
  db.exec("update _run set coverage_json = null");
  db.close();
}

function status() {
  const mirror = openMirrorReader(file);
  try {
    return readStatus(mirror);
  } finally {
    mirror.close();
  }
}

it("a kind has the times of its oldest, 90th percentile, median and newest check", () => {
  const minutes = fc.array(fc.integer({ min: 0, max: 59 }), { minLength: 8, maxLength: 8 });
  const toTime = (minute: number) => `2026-01-30T20:${String(minute).padStart(2, "0")}:00.000Z`;
  fc.assert(
    fc.property(minutes, (given) => {
      for (const [index, minute] of given.entries()) {
        const nth = "select id from _resource where kind = 'brand' order by id limit 1 offset ?";
        change(`update _resource set checked_at = ? where id = (${nth})`, Date.parse(toTime(minute)), index);
      }
      const newestFirst = given.map(toTime).sort().reverse();
      // Nearest rank: at least this share was checked at that time or later.
      const [p50, p90] = [0.5, 0.9].map((share) => newestFirst[Math.ceil(share * 8) - 1]);
      const oldest = newestFirst.at(-1);
      const brand = status().kinds.find(({ kind }) => kind === "brand");
      expect(brand).toMatchObject({
        ...{
          held: 8,
          newestCheckAt: newestFirst[0],
          p50CheckAt: p50,
          p90CheckAt: p90,
          oldestCheckAt: oldest,
        },
      });
    }),
    { numRuns: 20 },
  );
});

it("a kind without held resources has no check times", () => {
  change("update _resource set state = 'gone' where kind = 'size'");
  expect(status().kinds.find(({ kind }) => kind === "size")).toMatchObject({
    ...{ held: 0, gone: 20, oldestCheckAt: null, p90CheckAt: null, p50CheckAt: null, newestCheckAt: null },
  });
  expect(
    status().kinds.every(({ known, held, due, failed, gone }) => known === held + due + failed + gone),
  ).toBe(true);
});

it("partial lists are listed with the reason, and not among the issues", () => {
  change(
    `insert into _issue (resource_id, pointer, code, detail, run_id)
     select min(id), '/collection', 'partial-listing', 'lists 19 of 20', 1 from _resource where kind = 'models'`,
  );
  const { partialListings, issues } = status();
  expect(partialListings).toEqual([{ url: expect.stringContaining("/models/"), why: "lists 19 of 20" }]);
  expect(issues.map(({ code }) => code)).not.toContain("partial-listing");
});

it("an issue has the first resource that has it, and all failures are listed", () => {
  change(
    `insert into _issue (resource_id, pointer, code, detail, run_id)
     select id, '/links/x', 'skipped-link', 'other-origin: https://' || id || '.example/', 1 from _resource where kind = 'size'`,
  );
  change("update _resource set error = 'timeout: it took too long' where kind in ('brand', 'size')");
  const { issues, failures } = status();
  expect(issues.find(({ code }) => code === "skipped-link")).toEqual({
    ...{ kind: "size", code: "skipped-link", pointer: "/links/x", count: 20 },
    key: expect.stringMatching(/^[^/]+\/[^/]+\/[^/]+$/),
    href: expect.stringContaining("/sizes/"),
    detail: expect.stringMatching(/^other-origin: /),
  });
  expect(failures).toHaveLength(28);
  const failed = failures.find(({ kind }) => kind === "brand");
  expect(failed?.url).toBe(`${sandbox.url}brands/${failed?.key}/`);
});

it("an unknown field counts the resources whose present body has it", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const paths = Array.from({ length: 5 }, (_, n) => `brands/${n}/`);
  const brandsWith = (extras: readonly object[]) =>
    worldOf({
      ...{ "/": root(), "brands/": page(paths) },
      ...Object.fromEntries(paths.map((path, n) => [path, entity({ name: `Brand ${n}`, ...extras[n] })])),
    });
  const unknownFields = () =>
    readStatus(mirror)
      .issues.filter(({ code }) => code === "unknown-field")
      .map(({ pointer, count, href }) => [pointer, count, href]);
  const extra = { fabric: "lace" };

  crawl(mirror, brandsWith([{}, extra, extra, { ...extra, lining: 1 }, extra]));
  const expected = [
    ["/body/fabric", 4, urlOf("brands/1/")],
    ["/body/lining", 1, urlOf("brands/3/")],
  ];
  expect(unknownFields()).toEqual(expected);
  mirror.rebuild();
  expect(unknownFields()).toEqual(expected);
  crawl(mirror, brandsWith([{}, {}, extra, {}, extra]));
  expect(unknownFields()).toEqual([["/body/fabric", 2, urlOf("brands/2/")]]);
});

it("the user of an account has the number that the service sends", async () => {
  const account = join(folder.path, "account.sqlite");
  const credential = bearerToken(sandbox.users[0]?.token ?? "");
  await sync({ file: account, baseUrl: sandbox.url, area: "account", credential });
  const userIn = () => readMirror(account, readStatus).account?.user;
  expect(userIn()).toEqual({ userId: 1000, username: "anna" });
  const db = new Database(account);
  db.exec("update _meta set value = '90071992547409931' where key = 'user_id'");
  db.exec("update _user set user_id = 90071992547409931");
  db.close();
  expect(userIn()).toEqual({ userId: "90071992547409931", username: "anna" });
});

it("the counts that a run stored are those of the mirror", async () => {
  sandbox.setFaults([{ kind: "size", fault: "status", status: 404, times: 3 }]);
  sandbox.advance({ steps: 4 });
  await sync({ file, baseUrl: sandbox.url, mode: "verify" });
  sandbox.setFaults([{ kind: "model", fault: "status", status: 400, times: "always" }]);
  await sync({ file, baseUrl: sandbox.url, mode: "full" });
  sandbox.setFaults([]);
  const stored = status();
  expect(stored.failures.length).toBeGreaterThan(0);
  change("update _run set coverage_json = null");
  expect(status()).toEqual(stored);
});
