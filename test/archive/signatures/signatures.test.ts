/** Signatures of snapshots, and the files of the keys that make them. */
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  checkSignature,
  readSignatureFile,
  signatureFileOf,
  signStatement,
  writeSignatureFile,
} from "../../../src/archive/signatures/signature.ts";
import {
  createSigningKey,
  parseFingerprint,
  readSigningKey,
} from "../../../src/archive/signatures/signing-key.ts";
import { createSnapshot } from "../../../src/archive/snapshot/create.ts";
import { openSnapshot, verifySnapshot } from "../../../src/archive/snapshot/open.ts";
import { crawl, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { expectSecretIn } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { withFailingCall } from "../support/failing-calls.ts";
import { catalogueWorld } from "../support/linked-catalogue-rig.ts";

async function startKeyRig() {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  return {
    path,
    newKey: (name: string) => createSigningKey(path(name)),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

const statements = fc.record({
  baseUrl: fc.webUrl().map((url) => new URL(url).href),
  sequence: fc.option(fc.nat()),
  rootHash: fc.stringMatching(/^[0-9a-f]{64}$/),
});

it("a signature is valid for its statement and key alone", async () => {
  await using rig = await startKeyRig();
  const [key, other] = [rig.newKey("key.pem"), rig.newKey("other.pem")];
  fc.assert(
    fc.property(statements, statements, fc.nat(63), fc.nat(7), (signed, changed, byte, bit) => {
      const signature = signStatement(signed, key);
      const check = (...[statement, given, expected]: Parameters<typeof checkSignature>) =>
        checkSignature(statement, given, expected).problem;
      expect(checkSignature(signed, signature, key.fingerprint)).toEqual({
        ...{ signedBy: key.fingerprint, problem: null },
      });
      expect(check(signed, signature, other.fingerprint)).toContain("signed with another key");
      expect(check(signed, null, key.fingerprint)).toBe("it is not signed");
      expect(check(signed, null, undefined)).toBeNull();
      const notOfThis = "its signature is not of this snapshot";
      for (const [name, value] of Object.entries(changed))
        if (signed[name as keyof typeof signed] !== value)
          expect(check({ ...signed, [name]: value }, signature, undefined)).toBe(notOfThis);
      const bytes = Buffer.from(signature.signature, "base64url");
      bytes.writeUInt8(bytes.readUInt8(byte) ^ (1 << bit), byte);
      const damaged = { ...signature, signature: bytes.toString("base64url") };
      expect(check(signed, damaged, undefined)).toBe(notOfThis);
      expect(check(signed, { ...signature, publicKey: other.publicKey }, undefined)).toBe(notOfThis);
    }),
  );
});

it("a signature is Ed25519's of the documented text, so that other programs can check it", async () => {
  await using rig = await startKeyRig();
  const key = rig.newKey("key.pem");
  const statement = { baseUrl: "https://api.example.org/", sequence: 3, rootHash: "ab".repeat(32) };
  const { signature } = signStatement(statement, key);
  const text = `armoire snapshot\nhttps://api.example.org/\n3\n${"ab".repeat(32)}\n`;
  const publicKey = createPublicKey(readFileSync(rig.path("key.pem")));
  expect(verify(null, Buffer.from(text), publicKey, Buffer.from(signature, "base64url"))).toBe(true);
});

it("a private key is readable by its owner only, is never replaced, and is refused if others may read it", async () => {
  await using rig = await startKeyRig();
  const made = rig.newKey("key.pem");
  expect(statSync(rig.path("key.pem")).mode & 0o777).toBe(0o600);
  expect(readSigningKey(rig.path("key.pem"))).toMatchObject({ fingerprint: made.fingerprint });
  const before = readFileSync(rig.path("key.pem"));
  expect(() => rig.newKey("key.pem")).toThrow(expect.objectContaining({ code: "exists" }));
  expect(readFileSync(rig.path("key.pem"))).toEqual(before);
  expect(() => readSigningKey(rig.path("none.pem"))).toThrow(expect.objectContaining({ code: "not-found" }));
  chmodSync(rig.path("key.pem"), 0o640);
  expect(() => readSigningKey(rig.path("key.pem"))).toThrow(expect.objectContaining({ code: "unsafe" }));
});

it.each(["schedules.json", "ledger.sqlite"])("no key is made in the place of %s", async (name) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, name);
  expect(() => createSigningKey(file)).toThrow(/own files/);
  expect(existsSync(file)).toBe(false);
});

it("a file of something else is refused as a key, and its text is not repeated", async () => {
  await using rig = await startKeyRig();
  const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  const texts = ["canary-not-a-key", rsa.export({ type: "pkcs8", format: "pem" }).toString()];
  for (const text of texts) {
    writeFileSync(rig.path("other.pem"), text, { mode: 0o600 });
    expectSecretIn(rig.path("other.pem"));
    const read = () => readSigningKey(rig.path("other.pem"));
    expect(read).toThrow(expect.objectContaining({ code: "not-a-key" }));
    expect(read).not.toThrow(/canary-|PRIVATE/);
  }
});

it("a fingerprint may be written with spaces or capitals, and nothing else is one", () => {
  const words = "acid acorn acre yo-yo afar affix aged agent agile aging agony zoom";
  const fingerprint = words.replaceAll(" ", "-");
  for (const text of [fingerprint, words, ` ${words.toUpperCase()}\n`])
    expect(parseFingerprint(text)).toBe(fingerprint);
  for (const text of ["", "acid", `${fingerprint}-acid`, fingerprint.replace("zoom", "zooom")])
    expect(parseFingerprint(text)).toBeNull();
});

it("a snapshot is signed in a file beside it, and a signature of an earlier one goes with it", async () => {
  await using keys = await startKeyRig();
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = catalogueWorld();
  crawl(mirror, world);
  const [signingKey, other] = [keys.newKey("key.pem"), keys.newKey("other.pem")];
  const { fingerprint: key } = signingKey;
  const file = keys.path("catalogue.zip");
  const create = (more: object) =>
    createSnapshot({ mirror: rig.file, to: file, license: "CC0-1.0", replace: true, ...more });
  const created = await create({ signingKey });
  expect(created.signedBy).toBe(key);
  expect((await openSnapshot(file, { key })).description.signedBy).toBe(key);
  const problems = async (expected: object = {}) =>
    (await verifySnapshot({ file, ...expected })).problems.map(({ message }) => message);
  expect(await problems({ key })).toEqual([]);
  expect(await problems({ key: other.fingerprint })).toEqual([`it is signed with another key: ${key}`]);
  // Of another place in a folder.
  const statement = { baseUrl: created.manifest.service.baseUrl, sequence: 4, rootHash: created.rootHash };
  await writeSignatureFile(file, signStatement(statement, signingKey));
  expect(await problems()).toEqual(["its signature is not of this snapshot"]);
  writeFileSync(signatureFileOf(file), "{}");
  expect(readSignatureFile(file)).toBe("damaged");
  expect(await problems({ key })).toEqual([expect.stringContaining("the file of its signature is damaged")]);
  expect((await create({})).signedBy).toBeNull();
  expect(existsSync(signatureFileOf(file))).toBe(false);
  expect(await problems()).toEqual([]);
  expect(await problems({ key })).toEqual(["it is not signed"]);
  await expect(openSnapshot(file, { key })).rejects.toThrow("it is not signed");
});

it("a key that cannot be written leaves no file, whichever step fails", async () => {
  await using rig = await startKeyRig();
  const create = async () => void rig.newKey("key.pem");
  let failed = 0;
  while (await withFailingCall(failed + 1, () => create().catch(() => {}))) {
    failed++;
    expect(existsSync(rig.path("key.pem"))).toBe(false);
  }
  expect(failed).toBeGreaterThanOrEqual(6);
  expect(readSigningKey(rig.path("key.pem")).file).toBe(rig.path("key.pem"));
});
