/** Following a published folder, on this computer and over HTTP: only what is new, and nothing that goes back or elsewhere. */
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type PublishRequest, publishSnapshot } from "../../src/archive/published/publish.ts";
import { createSigningKey, type SigningKey } from "../../src/archive/signatures/signing-key.ts";
import { type SignedLine, type Succession, signSuccession } from "../../src/archive/signatures/successor.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { catalogueWorld } from "../archive/support/linked-catalogue-rig.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { urlOf } from "../mirror/support/world.ts";
import { callArmoire } from "../support/run-armoire.ts";

/** A publisher with its folder, which a server holds too, and a follower with its own mirror. */
async function startPublisher() {
  const rig = await startMirrorRig();
  const path = (name: string) => join(rig.folder, name);
  mkdirSync(path("public"));
  const mirror = await rig.write();
  const world = catalogueWorld();
  const requested: string[] = [];
  /** Files whose connection is cut. */
  const cut = new Set<string>();
  const server = createServer((request, response) => {
    const name = URL.parse(request.url ?? "", "http://any")?.pathname.replace("/public/", "") ?? "";
    requested.push(name);
    const file = join(path("public"), name);
    if (cut.has(name)) response.destroy();
    else if (!existsSync(file)) response.writeHead(404).end();
    else response.end(readFileSync(file));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    ...{ path, requested, cut },
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/public`,
    /** Publishes a brand's new name. */
    publish(name: string, more: Partial<PublishRequest> = {}) {
      const url = urlOf("brands/b/");
      world.set(url, JSON.stringify({ ...JSON.parse(world.get(url) ?? ""), body: { name, slug: "b" } }));
      crawl(mirror, world);
      const now = () => Date.parse("2026-02-01T00:00:00.000Z");
      const request = { mirror: rig.file, folder: path("public"), license: "CC0-1.0", now };
      return publishSnapshot({ ...request, ...more });
    },
    async load(exitCode: number, place: string, ...more: string[]) {
      const args = ["snapshot", "load", place, ...more, "--allow-private", "--json"];
      const result = await callArmoire([
        ...args,
        "--mirror",
        path("copy.sqlite"),
        "--data-dir",
        path("data"),
      ]);
      expect({ args, ...result }).toMatchObject({ args, exitCode });
      if (exitCode === 0) return JSON.parse(result.stdout);
      expect(result.stderr.split("\n").filter((line) => line.startsWith("armoire:"))).toHaveLength(1);
      return result.stderr;
    },
    name: () =>
      readMirror(path("copy.sqlite"), ({ db }) =>
        db.prepare("select name from brand where href = ?").pluck().get(urlOf("brands/b/")),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rig[Symbol.asyncDispose]();
    },
  };
}

it("a folder is loaded whole once, then its increments, also of one day, and nothing if nothing is new", async () => {
  await using rig = await startPublisher();
  const folder = rig.path("public");
  await rig.publish("One");
  await rig.publish("Two");
  const first = await rig.load(0, folder);
  expect(first.snapshots.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2]);
  expect(rig.name()).toBe("Two");
  copyFileSync(join(folder, "state.json"), rig.path("old.json"));
  // From now on it is signed.
  await rig.publish("Three", { signingKey: createSigningKey(rig.path("key.pem")) });
  const second = await rig.load(0, join(folder, "state.json"));
  expect(second.snapshots).toMatchObject([{ sequence: 3, resources: { replaced: 1, new: 0 } }]);
  expect(rig.name()).toBe("Three");
  expect(await rig.load(0, folder)).toMatchObject({ run: null, snapshots: [] });
  // An earlier increment, given by name, brings nothing back.
  const [, increment = ""] = readdirSync(folder);
  await rig.load(0, join(folder, increment));
  expect(rig.name()).toBe("Three");
  const state = JSON.parse(readFileSync(join(folder, "state.json"), "utf8"));
  state.snapshots[0].rootHash = state.snapshots[1].continues = "0".repeat(64);
  writeFileSync(join(folder, "state.json"), JSON.stringify(state));
  expect(await rig.load(15, folder)).toContain("snapshot 1 is not the one that was loaded before");
  renameSync(rig.path("old.json"), join(folder, "state.json"));
  expect(await rig.load(15, folder)).toContain("ends with snapshot 2, and snapshot 3 of it was loaded");
  expect(await rig.load(2, folder, "--root-hash", "0".repeat(64))).toContain("this is a folder of several");
  rmSync(join(folder, "state.json"));
  expect(await rig.load(1, folder)).toContain("There is no state.json");
});

it("an address is followed with and without state.json in it, and only what is new is downloaded", async () => {
  await using rig = await startPublisher();
  const { published: first } = await rig.publish("One");
  await rig.load(0, rig.address);
  expect(rig.requested.splice(0)).toEqual(["state.json", first?.file]);
  const { published: second } = await rig.publish("Two");
  await rig.load(0, `${rig.address}/state.json?token=canary-query`);
  expect(rig.requested.splice(0)).toEqual(["state.json", second?.file]);
  expect(rig.name()).toBe("Two");
  expect(await rig.load(0, `${rig.address}/`)).toMatchObject({ run: null });
  expect(readdirSync(rig.path("data/downloads"))).toEqual([]);
  copyFileSync(join(rig.path("public"), first?.file ?? ""), rig.path("public/file"));
  expect((await rig.load(0, `${rig.address}/file`)).snapshots).toHaveLength(1);
  for (const name of readdirSync(rig.path("public"))) rmSync(join(rig.path("public"), name));
  await rig.publish("Three");
  expect(await rig.load(15, rig.address)).toContain("Another line of snapshots was loaded from this address");
});

it("a folder on this computer is not followed in another line of snapshots", async () => {
  await using rig = await startPublisher();
  const folder = rig.path("public");
  await rig.publish("One");
  await rig.load(0, folder);
  const file = join(folder, "state.json");
  const state = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...state, line: "0".repeat(64) }));
  const refusal = "Another line of snapshots was loaded from this folder before";
  expect(await rig.load(15, folder)).toContain(refusal);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  await rig.publish("Two");
  expect(await rig.load(15, file)).toContain(refusal);
  renameSync(folder, rig.path("elsewhere"));
  await rig.load(0, rig.path("elsewhere"));
});

it("an interrupted download is continued: what has arrived is not requested again", async () => {
  await using rig = await startPublisher();
  const { published: first } = await rig.publish("One");
  const { published: second } = await rig.publish("Two");
  rig.cut.add(second?.file ?? "");
  await rig.load(1, rig.address);
  const state = join(rig.path("public"), "state.json");
  const text = readFileSync(state, "utf8");
  writeFileSync(state, text.replace(/"baseUrl": "[^"]*"/, '"baseUrl": "https://other.example/"'));
  rig.cut.clear();
  expect(await rig.load(15, rig.path("public"))).toContain("The folder is of https://other.example/");
  writeFileSync(state, text);
  expect(existsSync(rig.path("copy.sqlite"))).toBe(false);
  expect(rig.requested.splice(0)).toContain(first?.file);
  await rig.load(0, rig.address);
  expect(rig.requested).toEqual(["state.json", second?.file]);
  expect(rig.name()).toBe("Two");
});

it("an altered file, another key and a missing signature are refused, and nothing is loaded", async () => {
  await using rig = await startPublisher();
  const [key, other] = ["key", "other"].map((name) => createSigningKey(rig.path(`${name}.pem`)));
  const { published } = await rig.publish("One", key && { signingKey: key });
  const demanded = ["--key", other?.fingerprint ?? ""];
  expect(await rig.load(15, rig.address, ...demanded)).toContain("signed with another key");
  expect(rig.requested.splice(0)).toEqual(["state.json"]);
  const file = join(rig.path("public"), published?.file ?? "");
  const sound = readFileSync(file);
  writeFileSync(file, Buffer.from(sound).fill(0, 2000, 2010));
  expect(await rig.load(15, rig.address)).toContain("damaged or forged");
  expect(existsSync(rig.path("copy.sqlite"))).toBe(false);
  expect(readdirSync(rig.path("data/downloads"))).toEqual([]);
  writeFileSync(file, sound);
  expect((await rig.load(0, rig.address, "--key", key?.fingerprint ?? "")).snapshots).toHaveLength(1);
  const state = join(rig.path("public"), "state.json");
  const text = readFileSync(state, "utf8");
  writeFileSync(state, text.replace(/"signature": \{[^}]*\}/, '"signature": null'));
  // Also without --key: the mirror remembers who had signed.
  expect(await rig.load(15, rig.address)).toContain("it is not signed");
});

it("a key can sign its successor, and followers of the first key accept the last one", async () => {
  await using rig = await startPublisher();
  const folder = rig.path("public");
  const stateIn = () => JSON.parse(readFileSync(join(folder, "state.json"), "utf8"));
  const [first, second, third] = ["1", "2", "3"].map((n) => createSigningKey(rig.path(`${n}.pem`))) as [
    ...[SigningKey, SigningKey, SigningKey],
  ];
  await rig.publish("One", { signingKey: first });
  await rig.load(0, folder);
  const wrong = rig.publish("Two", { signingKey: second, predecessor: third });
  await expect(wrong).rejects.toMatchObject({ code: "other-key" });
  const { published } = await rig.publish("Two", { signingKey: second, predecessor: first });
  expect(published?.continues).toBeNull();
  // Given once more, for instance by a schedule, it changes nothing.
  await rig.publish("Three", { signingKey: second, predecessor: first });
  expect(stateIn().successions).toHaveLength(1);
  const { snapshots } = await rig.load(0, folder);
  expect(snapshots.map((one: { signedBy: string }) => one.signedBy)).toEqual(
    Array(2).fill(second.fingerprint),
  );
  expect(rig.name()).toBe("Three");
  await rig.publish("Four", { signingKey: third, predecessor: second });
  // The first owner can still sign, and names another successor than the followers know.
  const sound = readFileSync(join(folder, "state.json"), "utf8");
  const { line, successions, service } = stateIn();
  const forge = (change: (all: Succession[]) => Succession[]) =>
    writeFileSync(
      join(folder, "state.json"),
      JSON.stringify({ ...JSON.parse(sound), successions: change(successions) }),
    );
  const sign = (of: SignedLine, sequence: number) =>
    signSuccession(of, { sequence, successor: third.publicKey, key: first });
  const here = { baseUrl: service.baseUrl, line };
  forge(() => [sign(here, 2)]);
  expect(await rig.load(15, folder)).toContain("signed with another key");
  // Who trusts the first key alone cannot tell.
  rmSync(rig.path("copy.sqlite"));
  for (const change of [
    () => [],
    (all: Succession[]) => all.slice(0, 1),
    (all: Succession[]) => all.toReversed(),
    () => [sign({ ...here, line: "0".repeat(64) }, 2)],
    () => [sign(here, 5)],
    () => [{ ...sign(here, 2), sequence: 3 }],
  ]) {
    forge(change);
    expect(await rig.load(15, folder, "--key", first.fingerprint)).toContain("signed with another key");
  }
  writeFileSync(join(folder, "state.json"), sound);
  await rig.load(0, folder, "--key", first.fingerprint);
  expect(rig.name()).toBe("Four");
  const file = join(folder, stateIn().snapshots.at(-1).file);
  for (const key of [first, second, third])
    expect((await callArmoire(["snapshot", "verify", file, "--key", key.fingerprint])).exitCode).toBe(0);
});

it("with the history, each snapshot of a folder is a run, of its day in a new mirror, and the sample is of all", async () => {
  await using rig = await startPublisher();
  for (const name of ["One", "Two", "Three"]) await rig.publish(name, { maxIncrements: 1 });
  const { run, sampled } = await rig.load(0, rig.path("public"), "--with-history", "--sample", "2");
  // Two of the first, and the brand of the third, which has replaced that of the second.
  expect({ run, sampled }).toEqual({ run: 3, sampled: 3 });
  const names = ["1", "2", "3", "2026-01-15"].map((asOf) =>
    callArmoire([
      ...["query", "select name from brand where slug = 'b'", "--as-of", asOf, "--format", "ndjson"],
      ...["--mirror", rig.path("copy.sqlite")],
    ]).then(({ stdout }) => JSON.parse(stdout).name),
  );
  expect(await Promise.all(names)).toEqual(["One", "Two", "Three", "Three"]);
  await rig.publish("Four");
  await rig.load(0, rig.address, "--with-history");
  expect(rig.requested).toHaveLength(2);
  expect(rig.name()).toBe("Four");
});
