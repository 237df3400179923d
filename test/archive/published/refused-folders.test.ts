/** Folders that are refused, with all that is in them left as it is. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PublishRequest } from "../../../src/archive/published/publish.ts";
import { parseState, readState, stateFile } from "../../../src/archive/published/state.ts";
import { createSigningKey } from "../../../src/archive/signatures/signing-key.ts";
import { verifySnapshot } from "../../../src/archive/snapshot/open.ts";
import { takeLock } from "../../../src/platform/process-lock.ts";
import { crawl } from "../../mirror/support/mirror-rig.ts";
import { catalogueWorld } from "../support/linked-catalogue-rig.ts";
import { rename, startPublisher } from "./support/publisher.ts";

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
