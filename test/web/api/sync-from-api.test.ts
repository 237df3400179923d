/** The proof that the API is the service: what is synced from it into an empty folder is the same mirror. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type MirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { type SyncOptions, sync } from "../../../src/sync/sync.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { accountOf, authorize, startIndependentRig } from "../../sync/independent-service/support/rig.ts";
import { layouts } from "../../sync/support/layouts.ts";
import { startRig } from "../../sync/support/rig.ts";
import { liveContent } from "./support/compare-mirrors.ts";
import { key, type ServedApi, serveApi } from "./support/serve-api.ts";

const world = { brands: 5, models: 16, sizes: 40, pageSize: 4 };

/** A folder with a mirror that is synced from the API. */
async function startCopy(api: ServedApi, options: Partial<SyncOptions> = {}, path = "/") {
  const folder = await temporaryFolder();
  const file = join(folder.path, "copy.sqlite");
  return {
    sync: (more: Partial<SyncOptions> = {}) =>
      sync({ file, baseUrl: api.origin + path, ...options, ...more }),
    read: <Result>(read: (mirror: MirrorReader) => Result) => readMirror(file, read),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("a sync from the API makes the same mirror, and the next one finds it unchanged", () => {
  it.each(layouts)("with $name", async ({ options }) => {
    await using rig = await startRig({ ...world, ...options });
    await rig.sync();
    const expected = rig.read(liveContent);
    expect(expected.length).toBeGreaterThan(200);
    await using api = await serveApi({ findCatalogue: () => rig.file, clock: rig.clock });
    await using copy = await startCopy(api, { clock: rig.clock, serviceName: rig.serviceName });
    expect(await copy.sync()).toMatchObject({ complete: true, stopped: null, requests: { failed: 0 } });
    expect(copy.read(liveContent)).toEqual(expected);
    const { requests } = await copy.sync({ mode: "verify" });
    expect(requests).toMatchObject({ counted: 0, failed: 0, notModified: requests.sent });
    expect(requests.sent).toBeGreaterThan(60);
  });

  it("with the tombstones of a service that has changed left out", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.advance({ steps: 4 });
    expect((await rig.sync({ mode: "verify", approve: true })).resources.gone).toBeGreaterThan(0);
    await using api = await serveApi({ findCatalogue: () => rig.file, clock: rig.clock });
    await using copy = await startCopy(api, { clock: rig.clock });
    expect(await copy.sync()).toMatchObject({ complete: true, requests: { failed: 0 } });
    expect(copy.read(liveContent)).toEqual(rig.read(liveContent));
  });

  it("for an account, whose token is the key", async () => {
    await using rig = await startRig(world);
    await using folder = await temporaryFolder();
    const file = join(folder.path, "account.sqlite");
    const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
    await rig.sync({ file, area: "account", credential });
    await rig.sync();
    await using api = await serveApi({
      findCatalogue: () => rig.file,
      findAccount: () => file,
      clock: rig.clock,
    });
    await using copy = await startCopy(api, { area: "account", clock: rig.clock });
    const options = { credential: bearerToken(key) };
    expect(await copy.sync(options)).toMatchObject({
      complete: true,
      notGranted: [],
      requests: { failed: 0 },
    });
    const expected = readMirror(file, liveContent);
    expect(expected.some((text) => text.startsWith("bra "))).toBe(true);
    expect(copy.read(liveContent)).toEqual(expected);
    expect((await copy.sync(options)).requests).toMatchObject({ counted: 0, failed: 0 });
  });

  it.each([{}, { addresses: "relative", layout: "specified" }] as const)(
    "for a service below a path that this project did not write, %o",
    async (options) => {
      await using rig = await startIndependentRig(options);
      await rig.sync();
      const { serviceName, basePath } = rig.service.options;
      await using api = await serveApi({ findCatalogue: () => rig.file, clock: rig.clock });
      await using copy = await startCopy(api, { clock: rig.clock, serviceName }, `${basePath}/`);
      expect(await copy.sync()).toMatchObject({ complete: true, requests: { failed: 0 } });
      expect(copy.read(liveContent)).toEqual(rig.read(liveContent));
    },
  );

  it("for an account of that service", async () => {
    await using rig = await startIndependentRig();
    const authorization = authorize(rig);
    await rig.sync(accountOf(authorization));
    const { serviceName, basePath } = rig.service.options;
    await using api = await serveApi({
      ...{ findCatalogue: () => join(rig.folder, "none.sqlite"), findAccount: () => rig.file },
      clock: rig.clock,
    });
    const more = { ...accountOf(`bearer ${key}`), clock: rig.clock, serviceName };
    await using copy = await startCopy(api, more, `${basePath}/`);
    expect(await copy.sync()).toMatchObject({ complete: true, requests: { failed: 0 } });
    expect(copy.read(liveContent)).toEqual(rig.read(liveContent));
  });
});

it("a sync from a partial mirror ends incomplete, with all that is held and without tombstones", async () => {
  await using rig = await startRig(world);
  await rig.sync({ budget: 12 });
  await using api = await serveApi({ findCatalogue: () => rig.file, clock: rig.clock });
  await using copy = await startCopy(api, { clock: rig.clock });
  await copy.sync();
  const report = await copy.sync({ mode: "verify" });
  expect(report.complete).toBe(false);
  const bodies = (mirror: MirrorReader) => liveContent(mirror).filter((text) => text.startsWith("body "));
  expect(copy.read(bodies)).toEqual(rig.read(bodies));
  const gone = "select count(*) from _resource where state in ('gone', 'superseded') or gone_run is not null";
  expect(copy.read(({ db }) => db.prepare(gone).pluck().get())).toBe(0);
  await rig.sync();
  // A circuit breaker lets nothing pass for a minute.
  rig.sandbox.moveClock({ advanceSeconds: 120 });
  expect(await copy.sync({ mode: "verify" })).toMatchObject({ complete: true });
  expect(copy.read(liveContent)).toEqual(rig.read(liveContent));
});

it("a syncing client respects the allowance of the API, and continues in its next window", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  const allowance = { limit: 20, windowSeconds: 3_600 };
  await using api = await serveApi({ findCatalogue: () => rig.file, clock: rig.clock, allowance });
  await using copy = await startCopy(api, { clock: rig.clock });
  const first = await copy.sync();
  expect(first).toMatchObject({ stopped: "allowance", allowance: { limit: 20, remaining: 0 } });
  expect(first.requests.counted).toBe(20);
  let runs = 1;
  for (let report = first; !report.complete; runs++) {
    rig.sandbox.moveClock({ advanceSeconds: 3_601 });
    report = await copy.sync();
    expect(report.requests.counted).toBeLessThanOrEqual(20);
    expect(report.requests.failed).toBe(0);
  }
  expect(runs).toBeGreaterThan(3);
  expect(copy.read(liveContent)).toEqual(rig.read(liveContent));
});
