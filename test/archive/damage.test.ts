/** Any damage to a backup is found, and reported for the damaged entry. */
import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { Encrypter } from "age-encryption";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { blockEntries } from "../../src/archive/container/body-blocks.ts";
import { decrypted } from "../../src/archive/container/encryption.ts";
import { scanBackup } from "../../src/archive/contents/check-backup.ts";
import { BackupError } from "../../src/archive/errors.ts";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { entity, root, urlOf, worldOf } from "../mirror/support/world.ts";
import { isThorough, tries } from "../support/thorough.ts";
import { accountWorld } from "./support/account-world.ts";
import { scanBytes, startBackupRig } from "./support/backup-rig.ts";
import { type ForgedEntry, forgeZip } from "./support/forge-zip.ts";
import { takeApart, withSums } from "./support/forgery.ts";

let small: Buffer;
let sound: Buffer;
let another: Buffer;
let entries: ForgedEntry[];
beforeAll(async () => {
  const smallWorld = worldOf({ "": root({ me: urlOf("me/") }), "me/": entity({ username: "a" }) });
  small = await bytesOf(smallWorld);
  sound = await bytesOf(accountWorld());
  another = await bytesOf(accountWorld({ bras: { "1": "green", "3": "new" } }));
  entries = await takeApart(sound);
});

async function bytesOf(world: Map<string, string>): Promise<Buffer> {
  await using rig = await startBackupRig();
  crawl(rig.mirror, world);
  return await rig.bytes();
}

const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");

const isEntry = (namePrefix: string) => (entry: { readonly name: string }) =>
  entry.name.startsWith(namePrefix);
const at = (namePrefix: string) => entries.findIndex(isEntry(namePrefix));
const nameAt = (namePrefix: string) => entries[at(namePrefix)]?.name ?? "";

/** The entries, with another content for those whose names start so. */
const withContent = (namePrefix: string, change: (text: string) => string) =>
  entries.map((entry) =>
    isEntry(namePrefix)(entry)
      ? { ...entry, content: Buffer.from(change(entry.content.toString("latin1")), "latin1") }
      : entry,
  );

it("a sound backup has no problems, and its root hash is the SHA-256 of SHA256SUMS", async () => {
  const sums = entries.at(-1)?.content ?? "";
  expect(await scanBytes(sound)).toMatchObject({
    problems: [],
    rootHash: createHash("sha256").update(sums).digest("hex"),
    manifest: { account: "ada", area: "account", user: { username: "ada", userId: "7" } },
  });
  expect(await scanBytes(forgeZip(withSums(entries)))).toEqual(await scanBytes(sound));
});

/** All in thorough mode: each try reads the whole backup. */
const stride = isThorough ? 1 : 24;
const start = Math.floor(Math.random() * stride);

it(`a single flipped bit is found in every byte (every ${stride}, from ${start})`, async () => {
  const flipped = Buffer.from(small);
  const expectFound = async (first: number) => {
    const missed: number[] = [];
    for (const [byte, value] of small.entries()) {
      if (byte % stride !== start) continue;
      flipped[byte] = value ^ (1 << ((first + byte) & 7));
      if ((await scanBytes(flipped)).problems.length === 0) missed.push(byte);
      flipped[byte] = value;
    }
    expect(missed).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(fc.nat(7), expectFound), {
    numRuns: tries(1, 8),
    // Eight passes cover every bit of every byte.
    examples: isThorough ? Array.from({ length: 8 }, (_, first): [number] => [first]) : [],
  });
  expect((await scanBytes(flipped)).problems).toEqual([]);
});

it(`a cut at any length is found (every ${stride}, from ${start})`, async () => {
  for (let length = start; length < small.length; length += stride)
    expect((await scanBytes(small.subarray(0, length))).problems).not.toEqual([]);
});

it("inserted bytes are found at any offset", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(small.length),
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      async (where, bytes) => {
        const edited = Buffer.concat([small.subarray(0, where), bytes, small.subarray(where)]);
        expect((await scanBytes(edited)).problems).not.toEqual([]);
      },
    ),
  );
});

it("a flipped bit in an entry's content is reported for that entry", async () => {
  let offset = 0;
  for (const { name } of entries) {
    const [packedBytes, extraBytes] = [sound.readUInt32LE(offset + 18), sound.readUInt16LE(offset + 28)];
    offset += 30 + name.length + extraBytes;
    if (packedBytes > 0) {
      const flipped = Buffer.from(sound);
      flipped[offset + (packedBytes >> 1)] = (flipped[offset + (packedBytes >> 1)] ?? 0) ^ 4;
      expect((await scanBytes(flipped)).problems[0]).toEqual({
        entry: name,
        message: "its content is damaged",
      });
    }
    offset += packedBytes;
  }
});

/** Edits without new checksums, and the entry for which each is reported. */
const edits: readonly (readonly [string, () => Buffer, entry: () => string | null, message: string])[] = [
  [
    "an entry removed",
    () => forgeZip(entries.toSpliced(at("tables/bra.csv"), 1)),
    () => "tables/bra.csv",
    "is missing",
  ],
  [
    "a body removed",
    () => forgeZip(entries.toSpliced(at("revisions/"), 1)),
    () => nameAt("revisions/"),
    "is missing",
  ],
  ["the checksums removed", () => forgeZip(entries.toSpliced(-1, 1)), () => "SHA256SUMS", "is missing"],
  [
    "the manifest removed",
    () => forgeZip(entries.slice(1)),
    () => "README.txt",
    "comes first, where manifest.json should",
  ],
  [
    "an entry added",
    () => forgeZip(entries.toSpliced(-2, 0, { name: "tables/zebra.csv", content: Buffer.from("a\n") })),
    () => "tables/zebra.csv",
    "was added",
  ],
  [
    "two contents swapped",
    () => {
      const [first, second] = [at("tables/bra.csv"), at("tables/user.csv")];
      const [a, b] = [entries[first]?.content ?? small, entries[second]?.content ?? small];
      return forgeZip(
        entries.map((entry, n) =>
          n === first ? { ...entry, content: b } : n === second ? { ...entry, content: a } : entry,
        ),
      );
    },
    () => "tables/bra.csv",
    "does not have the SHA-256 that SHA256SUMS lists",
  ],
  [
    "two entries in another order",
    () => {
      const index = at("tables/bra.csv");
      return forgeZip(entries.toSpliced(index, 2, ...entries.slice(index, index + 2).reverse()));
    },
    () => "tables/bra.csv",
    "is out of order",
  ],
  [
    "an entry twice",
    () => forgeZip(entries.toSpliced(at("README"), 0, ...entries.filter(isEntry("README")))),
    () => "README.txt",
    "is there twice",
  ],
  [
    "the manifest of another backup",
    () => {
      return forgeZip(withContent("manifest", (text) => text.replace('"ada"', '"eve"')));
    },
    () => "manifest.json",
    "does not have the SHA-256 that SHA256SUMS lists",
  ],
  [
    "an entry emptied",
    () => forgeZip(withContent("tables/bra.json", () => "")),
    () => "tables/bra.json",
    "does not have",
  ],
  [
    "the checksums emptied",
    () => forgeZip(withContent("SHA256SUMS", () => "")),
    () => "README.txt",
    "was added",
  ],
  [
    "the checksums in another order",
    () =>
      forgeZip(withContent("SHA256SUMS", (text) => `${text.trimEnd().split("\n").reverse().join("\n")}\n`)),
    () => "SHA256SUMS",
    "is not written as Armoire writes it",
  ],
  [
    "two backups one after the other",
    () => Buffer.concat([sound, another]),
    () => null,
    "there are bytes after the end",
  ],
  [
    "the second half of another one",
    () => Buffer.concat([sound.subarray(0, sound.length >> 1), another.subarray(another.length >> 1)]),
    () => null,
    "",
  ],
  [
    "a name that steers a terminal in the checksums",
    () => forgeZip(withContent("SHA256SUMS", (text) => `${text}${"0".repeat(64)}  \x1b[2J\n`)),
    () => "SHA256SUMS",
    "is not written as Armoire writes it",
  ],
  [
    "nothing but zeros",
    () => Buffer.alloc(sound.length),
    () => null,
    "not an archive of Armoire, or its header is damaged",
  ],
  [
    "nothing at all",
    () => Buffer.alloc(0),
    () => null,
    "not an archive of Armoire, or its header is damaged",
  ],
];

it("flipped bits, cuts and appended bytes are found in an encrypted backup", async () => {
  const encrypter = new Encrypter();
  encrypter.setPassphrase("p");
  encrypter.setScryptWorkFactor(1);
  const encrypted = Buffer.from(await encrypter.encrypt(small));
  const isFound = async (bytes: Buffer) => {
    try {
      return (await scanBackup(decrypted(Readable.from([bytes]), "p"))).problems.length > 0;
    } catch (error) {
      return error instanceof BackupError && error.code === "wrong-passphrase";
    }
  };
  expect(await isFound(encrypted)).toBe(false);
  expect(await isFound(Buffer.concat([encrypted, Buffer.alloc(1)]))).toBe(true);
  await fc.assert(
    fc.asyncProperty(fc.nat(encrypted.length - 1), fc.nat(7), async (where, bit) => {
      const flipped = Buffer.from(encrypted);
      flipped[where] = (flipped[where] ?? 0) ^ (1 << bit);
      expect(await isFound(flipped)).toBe(true);
      expect(await isFound(encrypted.subarray(0, where))).toBe(true);
    }),
    {
      numRuns: 500,
      examples: Array.from({ length: 200 }, (_, where): [number, number] => [where, where % 8]),
    },
  );
});

it.each([
  [
    "asks for more work than age does",
    [`-> scrypt ${"A".repeat(22)} 19\n${"A".repeat(43)}\n--- ${"A".repeat(43)}\n`],
    /more work/,
  ],
  ["does not end", Array<string>(1000).fill(`-> x y\n${"A".repeat(43)}\n`), /header/],
] as const)("a header of age that %s is refused before a key is derived", async (_what, lines, cause) => {
  let read = 0;
  function* chunks() {
    yield Buffer.from("age-encryption.org/v1\n");
    for (const line of lines) {
      read++;
      yield Buffer.from(line);
    }
  }
  const content = decrypted(Readable.from(chunks(), { highWaterMark: 1 }), "p");
  await expect(content.next()).rejects.toMatchObject({
    code: "wrong-passphrase",
    cause: { message: expect.stringMatching(cause) },
  });
  expect(read).toBeLessThan(500);
});

it.each(edits)("an edit without new checksums is found: %s", async (_edit, edited, entry, message) => {
  const { problems } = await scanBytes(edited());
  const about = entry();
  const isExpected = (problem: (typeof problems)[number]) =>
    problem.entry === about && problem.message.includes(message);
  expect(problems.length).toBeGreaterThan(0);
  if (message !== "") expect(problems.find(isExpected), JSON.stringify(problems)).toBeDefined();
});

it.each<[string, () => ForgedEntry[], string]>([
  ["bodies removed", () => entries.toSpliced(at("revisions/"), 2), "is missing"],
  ["a block removed", () => entries.toSpliced(at("revisions/00001.json"), 1), "is missing"],
  ["the index of a block removed", () => entries.toSpliced(at("revisions/00001-index"), 1), "is missing"],
  ["bookkeeping removed", () => entries.toSpliced(at("bookkeeping/run"), 1), "is missing"],
  [
    "a body changed",
    () => withContent("revisions/00001.json", (text) => text.replace("{", "[")),
    "its body 1 does not have its SHA-256",
  ],
  [
    "bytes after the last body",
    () => withContent("revisions/00001.json", (text) => `${text} `),
    "is not made of the bodies that revisions/00001-index.ndjson lists",
  ],
  [
    "another byte between bodies",
    () => withContent("revisions/00001.json", (text) => text.replace("}\n", "} ")),
    "is not made of the bodies that revisions/00001-index.ndjson lists",
  ],
  [
    "a body that the index leaves out",
    () => withContent("revisions/00001-index", (text) => text.replace(/\{.*\n/, "")),
    "its line 1 is none of an index",
  ],
  [
    "a line of an index that is no row",
    () => withContent("revisions/00001-index", (text) => `${text}[]\n`),
    "is none of an index",
  ],
  [
    "a body of no revision added",
    () => {
      const more = [...blockEntries("revisions", [{ sha256: sha256Of("{}"), body: Buffer.from("{}") }])];
      const named = more.map(({ name, content }) => ({ name: name.replace("00001", "00002"), content }));
      return entries.toSpliced(at("revisions/00001.json") + 1, 0, ...named);
    },
    "belongs to no revision",
  ],
  [
    "a body twice",
    () => {
      const copies = entries.slice(at("revisions/"), at("revisions/") + 2);
      const named = copies.map(({ name, content }) => ({ name: name.replace("00001", "00002"), content }));
      return entries.toSpliced(at("revisions/00001.json") + 1, 0, ...named);
    },
    "is there twice",
  ],
  ["a line that is no row", () => withContent("bookkeeping/run", (text) => `${text}[]\n`), "is no row"],
  [
    "a row with something in it",
    () => withContent("bookkeeping/run", () => '{"id":{"toString":1}}\n'),
    "is no row",
  ],
  [
    "a manifest with more in it",
    () => withContent("manifest", (text) => text.replace("{", '{"more": 1,')),
    "is damaged",
  ],
  ["a manifest that is no JSON", () => withContent("manifest", () => "{"), "is not JSON"],
])("an edit with matching checksums is found: %s", async (_edit, edited, message) => {
  const { problems } = await scanBytes(forgeZip(withSums(edited())));
  expect(problems.map((problem) => problem.message).join("; ")).toContain(message);
});

it.each<[string, () => ForgedEntry[], string]>([
  [
    "another user in the manifest",
    () => withContent("manifest", (text) => text.replace('"username": "ada"', '"username": "eve"')),
    "parts are of different users",
  ],
  [
    "no user in the manifest",
    () => withContent("manifest", (text) => text.replace(/"user": \{[^}]*\}/, '"user": null')),
    "parts are of different users",
  ],
  [
    "another service in the manifest",
    () => withContent("manifest", (text) => text.replace(urlOf(""), "https://other.example/")),
    "of _meta is not one of a mirror",
  ],
  [
    "a resource of another service",
    () =>
      withContent("bookkeeping/resource", (text) =>
        text.replace(urlOf("me/bras/1/"), "https://other.example/"),
      ),
    'of _resource is not one of a mirror ("url")',
  ],
])("parts that disagree are refused by the restore: %s", async (_edit, edited, message) => {
  await using rig = await startBackupRig();
  await writeFile(rig.path("forged.zip"), forgeZip(withSums(edited())));
  const error = await rig.restore("forged.zip", "new.sqlite").catch((reason: unknown) => reason);
  expect({ code: (error as BackupError).code, message: (error as Error).message }).toEqual({
    code: "damaged",
    message: expect.stringContaining(message),
  });
  expect((await readdir(rig.folder)).filter((name) => name.startsWith("new.sqlite"))).toEqual([]);
});

it("a consistent edit with matching checksums is found only by the root hash", async () => {
  const forged = forgeZip(withSums(withContent("tables/bra.csv", (text) => text.replace("blue", "grey"))));
  const [was, is] = [await scanBytes(sound), await scanBytes(forged)];
  expect(is.problems).toEqual([]);
  expect(is.rootHash).not.toBe(was.rootHash);
});
