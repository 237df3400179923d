/** Syncing the catalogue resources that an account's bras link to, without the user's token. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { type MirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import { appCredential, bearerToken } from "../../../src/service/credentials/credential.ts";
import { type LinkedCatalogueOptions, syncLinkedCatalogue } from "../../../src/sync/sync-account.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { urlsOf } from "../support/requests.ts";
import { type Rig, startRig } from "../support/rig.ts";

const small = { brands: 6, models: 25, sizes: 90 };

async function accountBeside(rig: Rig): Promise<string> {
  const file = join(rig.file, "../account.sqlite");
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  expect(await rig.sync({ file, area: "account", credential })).toMatchObject({ complete: true });
  rig.sandbox.clearLog();
  return file;
}

const syncLinked = (rig: Rig, accountFile: string, options: Partial<LinkedCatalogueOptions> = {}) => {
  const { file, serviceName, clock, sandbox } = rig;
  return syncLinkedCatalogue({ accountFile, file, baseUrl: sandbox.url, serviceName, clock, ...options });
};

const heldIn = (rig: Rig) =>
  rig.read(({ db }) =>
    db
      .prepare<[], string>("select url from _resource where state = 'held' and kind <> 'root' order by url")
      .pluck()
      .all(),
  );

const linkedBy = (accountFile: string) =>
  readMirror(accountFile, ({ db }) =>
    db
      .prepare<[], string>(
        "select brand_href from bra union select model_href from bra union select size_href from bra order by 1",
      )
      .pluck()
      .all(),
  );

it.each(["plain", "opaque"] as const)(
  "a linked sync fetches the linked resources and nothing else: %s",
  async (layout) => {
    await using rig = await startRig({ ...small, layout });
    const account = await accountBeside(rig);
    const linked = linkedBy(account);
    const report = await syncLinked(rig, account);
    expect(report).toMatchObject({ complete: true, resources: { new: linked.length + 1 } });
    expect(heldIn(rig)).toEqual(linked);
    expect(urlsOf(rig.sandbox.log())).toEqual([rig.sandbox.url, ...linked].sort());
    expect(rig.read((mirror) => checkMirror(mirror, kinds).problems)).toEqual([]);
  },
);

it("a linked sync sends no user's token, and rejects one", async () => {
  await using rig = await startRig(small);
  const account = await accountBeside(rig);
  const { key, secret } = rig.sandbox.app;
  await syncLinked(rig, account, { credential: appCredential(key, secret) });
  expect(new Set(rig.sandbox.log().map(({ credential }) => credential))).toEqual(
    new Set(["app:sandbox-app"]),
  );
  const token = bearerToken(rig.sandbox.users[0]?.token ?? "");
  await expect(syncLinked(rig, account, { credential: token })).rejects.toThrow(RangeError);
});

it("a linked sync fetches no linked resource that the catalogue holds", async () => {
  await using rig = await startRig(small);
  const account = await accountBeside(rig);
  await rig.sync();
  const before = rig.read(canonicalDump);
  rig.sandbox.clearLog();
  expect(await syncLinked(rig, account)).toMatchObject({ complete: true, requests: { counted: 0 } });
  expect(rig.read(canonicalDump)).toEqual(before);
});

it("a linked sync leaves a catalogue that a full sync completes as if it had come first", async () => {
  await using rig = await startRig(small);
  const account = await accountBeside(rig);
  await syncLinked(rig, account);
  expect(await rig.sync()).toMatchObject({ complete: true, resources: { failed: 0, partial: 0, gone: 0 } });
  expect(rig.read((mirror) => checkMirror(mirror, kinds).problems)).toEqual([]);
  const owners =
    "select url, (select url from _resource o where o.id = r.owner_id) from _resource r order by url";
  const stateOf = (mirror: MirrorReader) => [canonicalDump(mirror), mirror.db.prepare(owners).raw().all()];
  const syncedFirst = join(rig.file, "../synced-first.sqlite");
  await rig.sync({ file: syncedFirst });
  expect(rig.read(stateOf)).toEqual(readMirror(syncedFirst, stateOf));
});

it("a linked sync fetches no other resources that an unfinished sync has found below the same brands", async () => {
  await using rig = await startRig(small);
  const account = await accountBeside(rig);
  const linked = linkedBy(account);
  await rig.sync({ order: "breadth", depth: "models", budget: 16 });
  const due = rig.read(({ db }) =>
    db.prepare<[], string>("select url from _resource where kind = 'model' and state = 'due'").pluck().all(),
  );
  expect(due.filter((url) => !linked.includes(url)).length).toBeGreaterThan(0);
  rig.sandbox.clearLog();
  expect(await syncLinked(rig, account)).toMatchObject({ complete: true });
  const requested = urlsOf(rig.sandbox.log());
  expect(requested.filter((url) => url !== rig.sandbox.url && !linked.includes(url))).toEqual([]);
});

it("a linked sync stops with the budget, and continues in the next run", async () => {
  await using rig = await startRig(small);
  const account = await accountBeside(rig);
  const linked = linkedBy(account);
  const first = await syncLinked(rig, account, { budget: 5 });
  expect(first).toMatchObject({ stopped: "budget", requests: { counted: 5 }, complete: false });
  expect(first?.resources.pending).toBe(linked.length - 5);
  expect(await syncLinked(rig, account)).toMatchObject({ complete: true });
  expect(heldIn(rig)).toEqual(linked);
  expect(rig.sandbox.log().filter(({ counted }) => counted)).toHaveLength(linked.length);
});

it("a linked sync creates no tombstones, and requests a missing resource only once", async () => {
  await using rig = await startRig(small);
  const account = await accountBeside(rig);
  rig.sandbox.setFaults([{ kind: "size", fault: "status", status: 404, times: "always" }]);
  const report = await syncLinked(rig, account);
  expect(report).toMatchObject({ complete: true, resources: { failed: 0 } });
  expect(report?.resources.gone).toBeGreaterThan(0);
  rig.sandbox.clearLog();
  expect(await syncLinked(rig, account)).toMatchObject({ requests: { counted: 0 } });
  rig.sandbox.setFaults([]);
  // A listed resource exists, whatever its earlier response.
  expect(await rig.sync()).toMatchObject({ complete: true });
  expect(
    rig.read(({ db }) => db.prepare("select count(*) from size where gone_at is not null").pluck().get()),
  ).toBe(0);
});
