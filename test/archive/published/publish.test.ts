/** Folders of published snapshots: a whole one, increments of what has changed, and what a kill leaves. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { chooseUnloaded } from "../../../src/archive/published/follow.ts";
import { type PublishRequest, publishSnapshot } from "../../../src/archive/published/publish.ts";
import { currentChain, parseState, readState, stateFile } from "../../../src/archive/published/state.ts";
import { createSigningKey } from "../../../src/archive/signatures/signing-key.ts";
import { createSnapshot } from "../../../src/archive/snapshot/create.ts";
import { openSnapshot, verifySnapshot } from "../../../src/archive/snapshot/open.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { readLoadedSnapshots } from "../../../src/mirror/load/loaded-snapshots.ts";
import type { Point } from "../../../src/mirror/points/point.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import { takeLock } from "../../../src/platform/process-lock.ts";
import { crawl, problemsOf, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { urlOf } from "../../mirror/support/world.ts";
import { tries } from "../../support/thorough.ts";
import { catalogueWorld } from "../support/linked-catalogue-rig.ts";

const license = "CC0-1.0";
const now = () => Date.parse("2026-02-01T00:00:00.000Z");

type Publisher = Awaited<ReturnType<typeof startPublisher>>;

async function startPublisher() {
  const rig = await startMirrorRig();
  const folder = join(rig.folder, "public");
  mkdirSync(folder);
  const mirror = await rig.write();
  const publish = (more: Partial<PublishRequest> = {}) =>
    publishSnapshot({ mirror: rig.file, folder, license, now, ...more });
  /** What a load of the newest state would show: URL, body and whether it is gone. */
  const published = async () => {
    const state = readState(folder);
    const all = new Map<string, string>();
    for (const { file, sequence, rootHash, signature } of state === null ? [] : currentChain(state)) {
      const opened = await openSnapshot(join(folder, file), { rootHash, published: { sequence, signature } });
      for await (const { url, goneAt, readBody } of opened.resources())
        all.set(url, `${goneAt !== null} ${Buffer.from(await readBody())}`);
    }
    return all;
  };
  const whole = async () => {
    const { file } = await createSnapshot({
      mirror: rig.file,
      to: join(rig.folder, "whole.zip"),
      license,
      replace: true,
    });
    const all = new Map<string, string>();
    for await (const { url, goneAt, readBody } of (await openSnapshot(file)).resources())
      all.set(url, `${goneAt !== null} ${Buffer.from(await readBody())}`);
    return all;
  };
  return { ...rig, folder, above: rig.folder, mirror, publish, published, whole };
}

const rename = (world: Map<string, string>, name: string) => {
  const url = urlOf("brands/b/");
  world.set(url, JSON.stringify({ ...JSON.parse(world.get(url) ?? ""), body: { name, slug: "b" } }));
};

const rows = `select href, name, gone_at is null as is_there from brand
  union all select href, null, gone_at is null from size order by href`;

it("the first snapshot is whole, the next ones have what has changed, and nothing changed writes nothing", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  crawl(rig.mirror, world);
  const first = await rig.publish();
  expect(first).toMatchObject({
    sequence: 1,
    published: { continues: null, sequence: 1 },
    resources: world.size,
  });
  const before = readFileSync(join(rig.folder, "state.json"));
  expect(await rig.publish()).toMatchObject({ sequence: 1, published: null, removed: [] });
  expect(readFileSync(join(rig.folder, "state.json"))).toEqual(before);
  rename(world, "Newer");
  crawl(rig.mirror, world);
  expect(await rig.publish()).toMatchObject({
    ...{ sequence: 2, resources: 1, published: { continues: first.published?.rootHash } },
  });
  expect(await rig.published()).toEqual(await rig.whole());
  expect(readdirSync(rig.folder).sort()).toEqual([
    ...["catalogue-000001-2026-01-15.zip", "catalogue-000002-2026-01-15.zip", "state.json"],
  ]);
  const umask = process.umask();
  for (const name of readdirSync(rig.folder))
    expect(statSync(join(rig.folder, name)).mode & 0o777).toBe(0o666 & ~umask);
});

it("whole snapshots and increments show the mirror's state after any history, and a mirror loads them", async () => {
  const steps = fc.array(
    fc.record({ change: fc.constantFrom<string>("none", "rename", "remove", "return"), n: fc.nat(3) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 0, max: 2 }), async (history, maxIncrements) => {
      await using rig = await startPublisher();
      let world = catalogueWorld();
      const shown = new Map<number, unknown[]>();
      for (const { change, n } of history) {
        if (change === "rename") rename(world, `Name ${n}`);
        if (change === "remove") world = catalogueWorld(["a", "b"]);
        if (change === "return") world = catalogueWorld();
        crawl(rig.mirror, world, { approve: true });
        const { sequence } = await rig.publish({ maxIncrements, keep: 2 });
        shown.set(sequence, rig.mirror.db.prepare(rows).all());
        expect(await rig.published()).toEqual(await rig.whole());
      }
      const state = readState(rig.folder);
      const chain = state === null ? [] : currentChain(state);
      expect(chain.length).toBeLessThanOrEqual(maxIncrements + 1);
      const sources = await Promise.all(chain.map(({ file }) => openSnapshot(join(rig.folder, file))));
      const file = join(rig.above, "loaded.sqlite");
      await loadSnapshots({ file, sources, kinds, now });
      const loaded = readMirror(file, ({ db }) => db.prepare(rows).all());
      expect(loaded).toEqual(rig.mirror.db.prepare(rows).all());
      await expectHistory(rig, shown);
    }),
    {
      numRuns: tries(3, 200),
      // The third is whole, and its state is that of the first.
      examples: [[["rename", "return", "rename"].map((change) => ({ change, n: 0 })), 1]],
    },
  );
});

/** What of a folder a mirror has yet to load with its history. */
function unloadedOf(folder: string, file: string) {
  const state = readState(folder);
  if (state === null) return { published: [], open: async () => [] };
  const loaded = existsSync(file) ? readMirror(file, ({ db }) => readLoadedSnapshots(db)) : [];
  const published = chooseUnloaded({
    ...{ state, loaded, place: folder, address: null, folder: "", withHistory: true },
  });
  const open = () =>
    Promise.all(
      published.map(async ({ file, rootHash, sequence, signature }) => {
        const one = await openSnapshot(join(folder, file), { rootHash, published: { sequence, signature } });
        return { ...one, description: { ...one.description, line: state.line } };
      }),
    );
  return { published, open };
}

/** A load with the history shows what the mirror showed at each publication that is still in the folder, and no more. */
async function expectHistory(
  { folder, above }: Pick<Publisher, "folder" | "above">,
  shown: ReadonlyMap<number, unknown[]>,
): Promise<void> {
  const file = join(above, "history.sqlite");
  const { published, open } = unloadedOf(folder, file);
  if (published.length === 0) return;
  expect(published).toEqual(readState(folder)?.snapshots);
  await loadSnapshots({ file, sources: await open(), kinds, now, withHistory: true, sampleSize: 4 });
  expect(unloadedOf(folder, file).published).toEqual([]);
  for (const [n, { sequence, takenOn }] of published.entries()) {
    const asOf: Point = { kind: "run", run: n + 1 };
    const loaded = readMirror(file, ({ db }) => db.prepare(rows).all(), asOf);
    expect({ sequence, loaded }).toEqual({ sequence, loaded: shown.get(sequence) });
    const endedAt = readMirror(file, ({ db }) =>
      db
        .prepare<[number], string>("select ended_at from _run where id = ?")
        .pluck()
        .get(n + 1),
    );
    expect(endedAt).toBe(`${takenOn}T00:00:00.000Z`);
  }
  readMirror(file, (mirror) => expect(problemsOf(mirror)).toEqual([]));
  rmSync(file);
}

it("an interrupted load of the history goes on with what it has not loaded", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  for (const name of ["One", "Two", "Three"]) {
    rename(world, name);
    crawl(rig.mirror, world);
    await rig.publish();
  }
  const file = join(rig.above, "loaded.sqlite");
  const stop = new AbortController();
  let resources = 0;
  const stopped = loadSnapshots({
    ...{ file, sources: await unloadedOf(rig.folder, file).open(), kinds, now, withHistory: true },
    signal: stop.signal,
    // After the first resource of the second one.
    onProgress: () => void (++resources > world.size && stop.abort(new Error("stopped"))),
  });
  await expect(stopped).rejects.toThrow("stopped");
  const { published, open } = unloadedOf(rig.folder, file);
  expect(published.map(({ sequence }) => sequence)).not.toContain(1);
  await loadSnapshots({ file, sources: await open(), kinds, now, withHistory: true });
  readMirror(file, (mirror) => {
    expect(mirror.db.prepare(rows).all()).toEqual(rig.mirror.db.prepare(rows).all());
    expect(problemsOf(mirror)).toEqual([]);
  });
  expect(unloadedOf(rig.folder, file).published).toEqual([]);
});

it("an increment without what it adds to is refused, and nothing changes", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  crawl(rig.mirror, world);
  await rig.publish();
  rename(world, "Newer");
  crawl(rig.mirror, world);
  const { published } = await rig.publish();
  const increment = await openSnapshot(join(rig.folder, published?.file ?? ""));
  const file = join(rig.above, "loaded.sqlite");
  await expect(loadSnapshots({ file, sources: [increment], kinds, now })).rejects.toMatchObject({
    code: "gap",
  });
  expect(readdirSync(rig.above)).not.toContain("loaded.sqlite");
});

it.skipIf(process.platform === "win32")("a pipe in the place of the state is refused at once", async () => {
  await using rig = await startPublisher();
  execFileSync("mkfifo", [join(rig.folder, stateFile)]);
  await expect(rig.publish()).rejects.toThrow(/pipe/);
});

it("a folder with private files is refused, and nothing is written", async () => {
  await using rig = await startPublisher();
  crawl(rig.mirror, catalogueWorld());
  const refusal = async (more: Partial<PublishRequest>) => {
    const before = readdirSync(rig.folder);
    const error = await rig.publish(more).then(
      () => ({ code: "none", message: "" }),
      (error) => error,
    );
    expect(readdirSync(rig.folder)).toEqual(before);
    expect(error.code).toBe("wrong-place");
    return error.message;
  };
  const under = (name: string) => {
    mkdirSync(join(rig.folder, name));
    return join(rig.folder, name);
  };
  const secret = under("secret");
  const signingKey = createSigningKey(join(secret, "key.pem"));
  expect(await refusal({ signingKey })).toContain("holds a private key");
  for (const folder of [secret, rig.folder])
    expect(await refusal({ folder })).toContain("holds a private key");
  expect(await refusal({ folder: rig.above })).toContain("holds mirrors");
  for (const dataDir of [rig.folder, rig.above, secret, under("..data")])
    expect(await refusal({ dataDir })).toContain("data directory");
  const data = under("data");
  mkdirSync(join(data, "host-12345678"));
  copyFileSync(rig.file, join(data, "host-12345678/catalogue.sqlite"));
  expect(await refusal({ folder: data })).toContain("holds mirrors");
  const accounts = under("users");
  mkdirSync(join(accounts, "accounts/ada"), { recursive: true });
  writeFileSync(join(accounts, "accounts/ada/account.json"), "{}");
  expect(await refusal({ folder: accounts })).toContain("accounts");
  const renamed = under("renamed");
  copyFileSync(rig.file, join(renamed, "notes.txt"));
  expect(await refusal({ folder: renamed })).toContain("holds mirrors");
  const linked = under("linked");
  symlinkSync(secret, join(linked, "more"));
  expect(await refusal({ folder: linked })).toContain("leads out of the folder");
  for (const folder of [secret, data, accounts, renamed, linked]) rmSync(folder, { recursive: true });
  // A certificate, a link within the folder and a folder beside the data directory are no secrets.
  symlinkSync("site.pem", join(rig.folder, "link.pem"));
  writeFileSync(join(rig.folder, "site.pem"), "-----BEGIN CERTIFICATE-----");
  expect((await rig.publish({ dataDir: join(rig.above, "public-data") })).sequence).toBe(1);
});

it("older snapshots are removed with their increments, and numbers go on", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  for (let n = 1; n <= 5; n++) {
    rename(world, `Name ${n}`);
    crawl(rig.mirror, world);
    await rig.publish({ maxIncrements: 1, keep: 1 });
  }
  const state = readState(rig.folder);
  expect(state?.snapshots.map(({ sequence, continues }) => [sequence, continues === null])).toEqual([
    [5, true],
  ]);
  expect(readdirSync(rig.folder).sort()).toEqual(["catalogue-000005-2026-01-15.zip", "state.json"]);
});

it("what a kill leaves before or after state.json is replaced or removed by the next call", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  crawl(rig.mirror, world);
  await rig.publish();
  const old = join(rig.above, "old.json");
  copyFileSync(join(rig.folder, "state.json"), old);
  rename(world, "Newer");
  crawl(rig.mirror, world);
  const { published } = await rig.publish();
  // Killed before state.json: the increment is written, and not listed.
  renameSync(old, join(rig.folder, "state.json"));
  rename(world, "Newest");
  crawl(rig.mirror, world);
  expect((await rig.publish()).published).toMatchObject({ sequence: 2, file: published?.file });
  expect(await rig.published()).toEqual(await rig.whole());
  // Killed after it: a file that is no longer listed is still there. What is not ours stays.
  writeFileSync(join(rig.folder, "catalogue-000000-2026-01-01.zip"), "");
  writeFileSync(join(rig.folder, "index.html"), "");
  expect((await rig.publish()).removed).toEqual(["catalogue-000000-2026-01-01.zip"]);
  expect(readdirSync(rig.folder)).toContain("index.html");
});

it("another key, service, state or missing file is refused, and the folder stays as it is", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  crawl(rig.mirror, world);
  const signingKey = createSigningKey(join(rig.above, "key.pem"));
  const other = createSigningKey(join(rig.above, "other.pem"));
  expect((await rig.publish({ signingKey })).signedBy).toBe(signingKey.fingerprint);
  const [file = ""] = readdirSync(rig.folder).map((name) => join(rig.folder, name));
  const verify = async (key: string) =>
    (await verifySnapshot({ file, key })).problems.map(({ message }) => message);
  expect(await verify(signingKey.fingerprint)).toEqual([]);
  expect(await verify(other.fingerprint)).toEqual([expect.stringContaining("signed with another key")]);
  rename(world, "Newer");
  crawl(rig.mirror, world);
  const state = readFileSync(join(rig.folder, "state.json"), "utf8");
  const refusal = async (more: Partial<PublishRequest> = {}) => {
    const before = readFileSync(join(rig.folder, "state.json"), "utf8");
    const { code } = await rig.publish(more).then(
      () => ({ code: "none" }),
      (error) => error,
    );
    expect(readFileSync(join(rig.folder, "state.json"), "utf8")).toBe(before);
    return code;
  };
  expect(await refusal()).toBe("other-key");
  expect(await refusal({ signingKey: other })).toBe("other-key");
  const busy = { startedAt: "2026-02-01T00:00:00.000Z", busyMessage: "in use" };
  const lock = takeLock(join(rig.folder, "state.json"), busy);
  expect(await refusal({ signingKey })).toBe("locked");
  lock.releaseAndRemove();
  for (const change of [
    (text: string) => text.slice(1),
    (text: string) => text.replace(/"rootHash": "../, '"rootHash": "00'),
    (text: string) => text.replace('"sequence": 1', '"sequence": 2'),
    (text: string) => text.replace(/"signature": "..../, '"signature": "AAAA'),
  ]) {
    writeFileSync(join(rig.folder, "state.json"), change(state));
    expect(await refusal({ signingKey })).toBe("damaged");
  }
  expect(() => parseState(state.replace('"formatVersion": 1', '"formatVersion": 2'), "x")).toThrow(
    "format 2",
  );
  writeFileSync(join(rig.folder, "state.json"), state);
  rmSync(join(rig.folder, readState(rig.folder)?.snapshots[0]?.file ?? ""));
  expect(await refusal({ signingKey })).toBe("damaged");
});
