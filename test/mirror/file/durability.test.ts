/** After kill -9 at any instant the mirror is sound and complete, and the next run continues at the next link. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { sync } from "../../../src/sync/sync.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { tries } from "../../support/thorough.ts";
import { startChild } from "../support/children.ts";
import { crawl, type MirrorRig, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../support/world.ts";

it("a process killed during a batch leaves nothing of it and all of the batches before", async () => {
  await using rig = await startMirrorRig();
  await using child = startChild("dying-process.ts", rig.file);
  expect(await child.readLine()).toBeNull();
  expect(existsSync(`${rig.file}-wal`)).toBe(true);
  const paths = ["a/", "b/", "c/"];
  const remaining = rig.read(canonicalDump);
  expect(remaining[urlOf("brands/")]?.state).toBe("held");
  for (const path of paths) expect(remaining[urlOf(path)]).toMatchObject({ state: "due", sha256: null });
  expect(rig.read(problemsOf)).toEqual([]);

  const mirror = await rig.write();
  const runs = mirror.db.prepare("select stopped from _run order by id").pluck();
  const world = worldOf({
    "/": root(),
    "brands/": page(paths),
    ...Object.fromEntries(paths.map((path) => [path, entity({ name: path })])),
  });
  crawl(mirror, world);
  expect(runs.all()).toEqual([null, "interrupted", null]);
  expect(paths.map((path) => canonicalDump(mirror)[urlOf(path)]?.state)).toEqual(["held", "held", "held"]);
  expect(problemsOf(mirror)).toEqual([]);
});

const kills = tries(3, 50);
const concurrency = 4;
const seed = Math.floor(Math.random() * 2 ** 31);

it(`a sync killed ${kills} times ends in the same state as an undisturbed one (seed ${seed})`, async () => {
  await using sandbox = await startSandbox({ brands: 20, models: 80, sizes: 250, latencyMillis: 3 });
  await using rig = await startMirrorRig(sandbox.url);
  const resources = [...sandbox.truth()].length;
  const random = randomNumbers(seed);
  for (let kill = 0; kill < kills; kill++) {
    const held = heldUrls(rig);
    const before = sandbox.log().at(-1)?.n ?? 0;
    const requests = Math.floor((random() * 0.9 * resources) / kills);
    const child = startChild("syncing-process.ts", rig.file, sandbox.url);
    while (sandbox.log(before).length < requests) await pause(2);
    await child.kill();
    const requested = sandbox.log(before).map(({ url }) => new URL(url, sandbox.url).href);
    expect(requested.filter((url) => held.has(url))).toEqual([]);
    if (existsSync(rig.file)) expect(rig.read(problemsOf)).toEqual([]);
    const stillHeld = heldUrls(rig);
    expect([...held].filter((url) => !stillHeld.has(url))).toEqual([]);
  }

  const held = heldUrls(rig);
  const before = sandbox.log().at(-1)?.n ?? 0;
  await using child = startChild("syncing-process.ts", rig.file, sandbox.url);
  expect(await child.readLine()).toBe("complete");
  expect(sandbox.log(before).filter(({ url }) => held.has(new URL(url, sandbox.url).href))).toEqual([]);
  expect(sandbox.log().some(({ conditional }) => conditional)).toBe(false);

  const undisturbed = join(rig.folder, "undisturbed.sqlite");
  await sync({ file: undisturbed, baseUrl: sandbox.url, concurrency });
  const reader = openMirrorReader(undisturbed);
  const expected = canonicalDump(reader);
  reader.close();
  expect(rig.read(canonicalDump)).toEqual(expected);
  expect(rig.read(problemsOf)).toEqual([]);
});

it("with an ample allowance, a sync killed while the service is silent has stored everything else, and repeats only the requests in flight", async () => {
  await using sandbox = await startSandbox({ brands: 20, models: 80, sizes: 250, latencyMillis: 3 });
  await using rig = await startMirrorRig(sandbox.url);
  const child = startChild("syncing-process.ts", rig.file, sandbox.url);
  while (sandbox.log().length < 60) await pause(2);
  sandbox.setFaults([{ times: "always", fault: "stall-headers" }]);
  // All capacity is in use, so only their age makes the responses before a batch.
  await vi.waitFor(
    () => {
      const log = sandbox.log();
      expect(log.filter(({ fault }) => fault !== undefined)).toHaveLength(concurrency);
      expect(heldUrls(rig).size).toBe(log.length - concurrency);
    },
    { timeout: 80_000, interval: 5 },
  );
  await child.kill();
  sandbox.setFaults([]);
  await using next = startChild("syncing-process.ts", rig.file, sandbox.url);
  expect(await next.readLine()).toBe("complete");
  const resources = [...sandbox.truth()].length;
  expect(sandbox.log()).toHaveLength(resources + concurrency);
});

function heldUrls(rig: MirrorRig): Set<string> {
  if (!existsSync(rig.file)) return new Set();
  const urls = rig.read(({ db }) =>
    db.prepare<[], string>("select url from _resource where state = 'held'").pluck().all(),
  );
  return new Set(urls);
}

/** Pseudo-random numbers in [0, 1) (mulberry32). */
function randomNumbers(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
