/** Loading snapshots at the command line: before and after a sync, refused ones, and ones that the service contradicts. */

import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let rootHash: string;
const path = (name: string) => join(folder.path, name);
const snapshot = () => path("catalogue.zip");

beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({
    users: 1,
    brands: 2,
    models: 4,
    sizes: 8,
    allowance: 5000,
    countRoot: true,
  });
  await armoire("publisher", 0, ["sync", "--quiet"]);
  const create = ["snapshot", "create", "--to", snapshot(), "--license", "CC0-1.0", "--json"];
  rootHash = JSON.parse((await armoire("publisher", 0, create)).stdout).rootHash;
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

/** Runs a command in a data directory; it must end with this exit code. */
async function armoire(dataDir: string, exitCode: number, args: readonly string[], baseUrl = sandbox.url) {
  const env = baseUrl === "" ? {} : { ARMOIRE_BASE_URL: baseUrl };
  const result = await callArmoire([...args, "--data-dir", path(dataDir)], { env });
  expect({ args, ...result }).toMatchObject({ args, exitCode });
  return result;
}

const json = async (dataDir: string, args: readonly string[]) =>
  JSON.parse((await armoire(dataDir, 0, [...args, "--json"])).stdout);

const rowsOf = async (dataDir: string) =>
  (await armoire(dataDir, 0, ["query", "select * from size order by href", "--format", "json"])).stdout;

it("a loaded catalogue is used at once, and the next sync confirms it", async () => {
  sandbox.clearLog();
  const loaded = await armoire(
    "follower",
    0,
    ["snapshot", "load", snapshot(), "--root-hash", rootHash, "--sample", "3"],
    "",
  );
  expect(loaded.stderr).toContain(`Root hash ${rootHash}\n`);
  expect(loaded.stdout).toMatch(/^catalogue\.zip, of \d{4}-\d\d-\d\d: \d+ new\.$/m);
  expect(loaded.stdout).toContain("What was loaded is unconfirmed.");
  expect(sandbox.log()).toEqual([]);
  const withoutTimes = (text: string) =>
    text.replace(/"(first_seen_at|checked_at|confirmed)":\s*(null|"[^"]*")/g, "");
  expect(withoutTimes(await rowsOf("follower"))).toBe(withoutTimes(await rowsOf("publisher")));
  const status = await armoire("follower", 0, ["status"]);
  expect(status.stdout).toMatch(/^Confirmed {2}0 by bytes, 0 by validator, \d+ from snapshots not yet$/m);
  expect(status.stdout).toMatch(/from snapshots, \d+ not confirmed by the service/);
  const plan = await armoire("follower", 0, ["plan"]);
  expect(plan.stdout).toMatch(
    /^Snapshots {2}\d+ of \d+ resources not confirmed: 3 counted requests for the sample; \d+ free checks, about \d+ s$/m,
  );
  const report = await json("follower", ["sync"]);
  expect(report.requests.counted).toBe(3);
  expect(report.snapshots).toMatchObject({ bytes: 3, unconfirmed: 0, differences: 0 });
  const { kinds } = await json("follower", ["status"]);
  const sizes = kinds.find(({ kind }: { kind: string }) => kind === "size");
  expect(sizes.confirmed.bytes + sizes.confirmed.validator).toBe(8);
  const again = await armoire("follower", 0, ["snapshot", "load", snapshot()]);
  expect(again.stdout).not.toContain("unconfirmed");
  expect(again.stdout).toMatch(/: 0 new, \d+ held as new or newer\.$/m);
});

it("an export says what the service has not confirmed", async () => {
  await armoire("exporter", 0, ["snapshot", "load", snapshot(), "--quiet"]);
  const { stdout } = await armoire("exporter", 0, ["export", "--out", path("export"), "--format", "csv"]);
  expect(stdout).toMatch(/from snapshots, \d+ not confirmed by the service/);
  const described = JSON.parse(readFileSync(path("export/datapackage.json"), "utf8"));
  expect(JSON.stringify(described)).toContain('"confirmed":{"bytes":0,"validator":0,"unconfirmed":');
  await armoire("exporter", 0, ["export", "verify", path("export")]);
});

it("a sync can begin with a published folder, and loads nothing from it twice", async () => {
  mkdirSync(path("public"));
  const publish = ["snapshot", "publish", "--to", path("public"), "--license", "CC0-1.0", "--quiet"];
  await armoire("publisher", 0, publish);
  const { seed } = await json("following", ["sync", "--seed", path("public")]);
  expect(seed.snapshots).toMatchObject([{ sequence: 1, rootHash }]);
  const { stdout } = await armoire("following", 0, ["sync", "--seed", path("public")]);
  expect(stdout).toMatch(/^Nothing new: all of it was loaded before: /m);
});

it("a sync can begin with a snapshot, from a file or an address", async () => {
  const { seed, ...report } = await json("seeded", ["sync", "--seed", snapshot()]);
  expect(seed.snapshots[0].resources.new).toBeGreaterThan(8);
  expect(report.resources.new).toBe(0);
  const server = createServer((_request, response) => response.end(readFileSync(snapshot()))).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalogue.zip`;
  try {
    const signed = `${url}?signature=canary-signature`;
    const refused = await armoire("fetched", 1, ["sync", "--seed", signed]);
    expect(refused.stderr).toContain(`The address is in a private network: ${url}\n`);
    const named = url.replace("//", "//u:canary-password@");
    const wrong = await armoire("fetched", 2, ["snapshot", "load", named, "--allow-private"], "");
    expect(wrong.stderr).toContain(`This is no address of a file to download: ${url}\n`);
    const { stdout, stderr } = await armoire("fetched", 0, ["sync", "--seed", signed, "--allow-private"]);
    expect(await json("fetched", ["query", "select source from _snapshot"])).toEqual([{ source: url }]);
    expect(stderr).toContain(`Root hash ${rootHash}\n`);
    expect(stdout).toMatch(/^Confirmed: \d+ by bytes, 0 by validator, 0 not yet\.$/m);
    expect(readdirSync(path("fetched/downloads"))).toEqual([]);
  } finally {
    server.close();
  }
});

it("what is no snapshot of this service is refused in one line, and changes nothing", async () => {
  const refusals: [string, readonly string[], RegExp][] = [
    ["damaged.zip", [], /damaged|forged/i],
    ["catalogue.zip", ["--root-hash", "0".repeat(64)], /root hash/i],
    ["catalogue.zip", ["--base-url", "https://other.example/"], /is of http/],
    ["catalogue.zip", ["--service-name", "acme"], /is named/],
    ["backup.zip", [], /backup/],
  ];
  writeFileSync(path("damaged.zip"), readFileSync(snapshot()).fill(0, 2000, 2010));
  await armoire("publisher", 0, ["backup", "create", "--to", path("backup.zip"), "--quiet"]);
  for (const [name, more, message] of refusals) {
    const { stderr } = await armoire("refused", 15, ["snapshot", "load", path(name), ...more]);
    expect(stderr).toMatch(message);
    expect(
      stderr
        .trimEnd()
        .split("\n")
        .filter((line) => line.startsWith("armoire:")),
    ).toHaveLength(1);
    expect(existsSync(path("refused")) ? readdirSync(path("refused")) : []).toEqual([]);
  }
  copyFileSync(snapshot(), path("other.zip"));
  await armoire("refused", 2, ["snapshot", "load", snapshot(), path("other.zip"), "--root-hash", rootHash]);
});

it("a service that contradicts a snapshot ends the sync with 15, and the next one fetches what is missing", async () => {
  await armoire("deceived", 0, ["snapshot", "load", snapshot(), "--sample", "1000", "--quiet"]);
  sandbox.setFaults([{ kind: "brand", fault: "same-etag-other-body" }]);
  const { stderr } = await armoire("deceived", 15, ["sync"]);
  sandbox.setFaults([]);
  expect(stderr).toMatch(/^armoire: The service contradicts the snapshot catalogue\.zip: at http/m);
  const { stderr: refused } = await armoire("deceived", 15, ["snapshot", "load", snapshot()]);
  expect(refused).toContain("The service has contradicted this snapshot");
  mkdirSync(path("condemned"));
  const publish = ["snapshot", "publish", "--to", path("condemned"), "--license", "CC0-1.0", "--quiet"];
  await armoire("publisher", 0, publish);
  const { stderr: followed } = await armoire("deceived", 15, ["snapshot", "load", path("condemned")]);
  expect(followed).toContain("The service has contradicted a snapshot of this folder");
  await armoire("deceived", 0, ["sync", "--mode", "full"]);
  expect((await json("deceived", ["status"])).complete).toBe(true);
});
