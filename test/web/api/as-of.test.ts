/** The service as it was. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { readMirror } from "../../../src/mirror/reader.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { createApi } from "../../../src/web/api/create-api.ts";
import { createAccessKey } from "../../../src/web/session/access-key.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { startRig } from "../../sync/support/rig.ts";
import { authorization, key, serveApi } from "./support/serve-api.ts";

it("--as-of serves catalogue and account as they were, while the present goes on", async () => {
  await using rig = await startRig({ brands: 4, models: 8, sizes: 10, pageSize: 3 });
  await using folder = await temporaryFolder();
  const accountFile = join(folder.path, "account.sqlite");
  const [user] = rig.sandbox.users;
  const credential = bearerToken(user?.token ?? "");
  const syncBoth = async () => {
    await rig.sync({ file: accountFile, area: "account", credential, mode: "verify", approve: true });
    const report = await rig.sync({ mode: "verify", approve: true });
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    return report;
  };
  const read = async (path: string) => {
    const response = await fetch(new URL(path, rig.sandbox.url), {
      headers: { authorization: `bearer ${user?.token}` },
    });
    return { status: response.status, body: await response.text() };
  };
  await syncBoth();
  // Run 1 of the account is not run 1 of the catalogue.
  await rig.sync({ file: accountFile, area: "account", credential });
  const paths = readMirror(rig.file, ({ db }) =>
    db.prepare<[], string>("select url from _resource where state = 'held'").pluck().all(),
  ).map((url) => new URL(url).pathname + new URL(url).search);
  const all = [...paths, "/me/", "/me/bras/"];
  const before = new Map(await Promise.all(all.map(async (path) => [path, await read(path)] as const)));
  rig.sandbox.advance({ removals: 3, changes: 20, additions: 3 });
  rig.sandbox.editUser(user?.username ?? "", { bras: 3 });
  const { run, resources } = await syncBoth();
  expect(resources).toMatchObject({ gone: expect.toSatisfy((count: number) => count > 0) });
  const added = readMirror(rig.file, ({ db }) =>
    db
      .prepare<[number], string>("select url from _resource where first_run = ? and state = 'held'")
      .pluck()
      .get(run),
  );

  await using past = await serveApi({
    ...{ findCatalogue: () => rig.file, findAccount: () => accountFile, clock: rig.clock },
    asOf: { kind: "run", run: 1 },
  });
  await using present = await serveApi({
    findCatalogue: () => rig.file,
    findAccount: () => accountFile,
    clock: rig.clock,
  });
  const here = (text: string, origin: string) => text.replaceAll(new URL(rig.sandbox.url).origin, origin);
  let changed = 0;
  for (const path of all) {
    const was = before.get(path) ?? { status: 0, body: "" };
    const past_ = await past.get(path, authorization);
    expect([path, past_.status, await past_.text()]).toEqual([path, 200, here(was.body, past.origin)]);
    const is = await read(path);
    const present_ = await present.get(path, authorization);
    if (is.status === 404) expect([404, 410]).toContain(present_.status);
    else expect(await present_.text()).toBe(here(is.body, present.origin));
    if (is.body !== was.body) changed++;
  }
  expect(changed).toBeGreaterThan(10);
  const addedPath = new URL(added ?? "").pathname;
  expect([(await past.get(addedPath, authorization)).status, (await present.get(addedPath)).status]).toEqual([
    404, 200,
  ]);
});

it("before the account's first run, its resources are not held", async () => {
  await using rig = await startRig({ brands: 2, models: 2, sizes: 2 });
  await using folder = await temporaryFolder();
  await rig.sync();
  rig.sandbox.moveClock({ advanceSeconds: 86_400 });
  const accountFile = join(folder.path, "account.sqlite");
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  await rig.sync({ file: accountFile, area: "account", credential });
  await using api = await serveApi({
    findCatalogue: () => rig.file,
    findAccount: () => accountFile,
    asOf: { kind: "run", run: 1 },
  });
  expect((await api.get("/me/", authorization)).status).toBe(504);
  expect((await api.get("/brands/", authorization)).status).toBe(200);
});

it("a point that the mirror does not have is an error at the start", async () => {
  await using rig = await startRig({ brands: 2, models: 2, sizes: 2 });
  await rig.sync({ depth: "brands" });
  const options = { findCatalogue: () => rig.file, key: createAccessKey(key, rig.clock), host: "127.0.0.1" };
  expect(() => createApi({ ...options, asOf: { kind: "run", run: 7 } })).toThrow("There is no run 7.");
});
