/** What the search for secrets finds in what is packed or encrypted, and what it says that it could not look into. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encrypted } from "../../src/archive/container/encryption.ts";
import { withPassphrase } from "../../src/archive/container/open.ts";
import { diagnoseSecrets } from "../../src/doctor/diagnose-secrets.ts";
import { findSecrets } from "../../src/doctor/find-secrets.ts";
import { hideSecret } from "../../src/service/credentials/credential.ts";
import { startMirrorRig, walk } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, worldOf } from "../mirror/support/world.ts";
import { expectClosed } from "../support/canary.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const secret = "planted passphrase 0123456789";
const lorem = "Lorem ipsum dolor sit amet, consectetur adipisici elit, sed eiusmod tempor incidunt. ";
const text = `${lorem.repeat(9)}${secret} ${lorem.repeat(9)}`;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, "packed");
});
afterEach(() => folder[Symbol.asyncDispose]());

const sought = [{ what: "planted secret", credential: hideSecret(secret), places: [] }];
const find = (passphrase?: string) => findSecrets([folder.path], sought, withPassphrase(passphrase));

interface ZipOptions {
  readonly method?: number;
  readonly flags?: number;
  readonly comment?: string;
}

/** As other programs make it: two entries, the second of which holds the text. */
function zipOf({ method = 8, flags = 0, comment = "" }: ZipOptions = {}): Buffer {
  const entries = ["dear", text].map((content) => ({
    name: Buffer.from(`${content.length}.txt`),
    packed: method === 8 ? deflateRawSync(content) : Buffer.from(content).reverse(),
  }));
  const header = (
    signature: number,
    length: number,
    at: number,
    { name, packed }: (typeof entries)[number],
  ) => {
    const fields = Buffer.alloc(length);
    fields.writeUInt32LE(signature);
    fields.writeUInt16LE(flags, at);
    fields.writeUInt16LE(method, at + 2);
    fields.writeUInt32LE(packed.length, at + 12);
    fields.writeUInt16LE(name.length, at + 20);
    return fields;
  };
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  for (const entry of entries) {
    const central = header(0x02014b50, 46, 8, entry);
    central.writeUInt32LE(Buffer.concat(locals).length, 42);
    centrals.push(central, entry.name);
    locals.push(header(0x04034b50, 30, 6, entry), entry.name, entry.packed);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(centrals).length, 12);
  end.writeUInt32LE(Buffer.concat(locals).length, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, ...centrals, end, Buffer.from(comment)]);
}

async function age(content: string, passphrase: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of encrypted([Buffer.from(content)], passphrase)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe("a secret is found in what is packed", () => {
  it.each([
    ["with gzip", gzipSync(text)],
    ["with zstd", zstdCompressSync(text)],
    ["into a ZIP file", zipOf()],
    ["into a ZIP file with a comment", zipOf({ comment: "made by hand, PK" })],
  ])("%s", async (_how, bytes) => {
    expect(bytes.includes(secret)).toBe(false);
    writeFileSync(file, bytes);
    expect(await find()).toMatchObject({
      found: [{ file, what: "planted secret", form: "as it is", in: "archive" }],
      ...{ unread: [], closed: [] },
    });
    expect(await diagnoseSecrets([folder.path], sought)).toMatchObject([
      { isWell: false, what: `The planted secret is in what is packed in ${file} (as it is)` },
    ]);
  });
});

describe("an encrypted file", () => {
  it("is looked into with its passphrase, and said to be closed without it or with another", async () => {
    expectClosed(file);
    writeFileSync(file, await age(text, "planted-1"));
    expect(await find("planted-1")).toMatchObject({ found: [{ file, in: "archive" }], closed: [] });
    const why = (words: string) => ({
      ...{ found: [], unread: [], closed: [{ path: file, reason: "encrypted", why: words }] },
    });
    expect(await find("planted-2")).toMatchObject(why("it is encrypted with another passphrase"));
    expect(await find()).toMatchObject(why(expect.stringMatching(/^it is encrypted, .*--passphrase-file/)));
    expect(await diagnoseSecrets([folder.path], sought)).toMatchObject([
      {
        isWell: true,
        what: expect.stringContaining(`Not all of ${file} could be searched: it is encrypted`),
      },
      { isWell: true, what: expect.stringContaining("None of 1 files") },
    ]);
  }, 90_000);
});

describe("what cannot be looked into is told:", () => {
  it.each([
    ["an archive of 7-Zip", Buffer.from("377abcaf271c0004", "hex"), "it is packed with 7-Zip"],
    ["an archive of xz", Buffer.from("fd377a585a000004", "hex"), "it is packed with xz"],
    [
      "an encrypted entry",
      zipOf({ flags: 1 }),
      "of what is packed in it, 2 are encrypted or in a format that is not known",
    ],
    [
      "an entry of an unknown method",
      zipOf({ method: 12 }),
      "of what is packed in it, 2 are encrypted or in a format that is not known",
    ],
    ["gzip that ends too early", gzipSync(text).subarray(0, 40), "it is damaged"],
    ["zstd that is none", Buffer.from("28b52ffd2400000000000000", "hex"), "it is damaged"],
    ["a ZIP file without its directory", zipOf().subarray(0, 60), "it is damaged"],
  ])("%s", async (_what, bytes, why) => {
    expectClosed(file);
    writeFileSync(file, bytes);
    expect(await find()).toMatchObject({ files: 1, found: [], unread: [], closed: [{ path: file, why }] });
  });

  it("whatever bytes a ZIP file has, and every other file is searched all the same", async () => {
    const bytes = zipOf();
    expectClosed(file);
    const beside = join(folder.path, "z-notes.txt");
    writeFileSync(beside, secret);
    const positions = fc.integer({ min: 4, max: bytes.length - 1 });
    await fc.assert(
      fc.asyncProperty(positions, fc.integer({ min: 0, max: 255 }), async (at, value) => {
        writeFileSync(file, bytes.with(at, value));
        const { found, unread, closed } = await find();
        expect(unread).toEqual([]);
        expect(found.map((one) => one.file)).toContain(beside);
        for (const { why } of closed) expect(why).toMatch(/^it is damaged$|^of what is packed in it/);
      }),
    );
  });

  it("free pages of a mirror, until it is compacted", async () => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const paths = Array.from({ length: 40 }, (_, index) => `brand-${index}/`);
    const bodies = paths.map((path) => [path, entity({ name: path, note: lorem.repeat(5) })] as const);
    walk(mirror, worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(bodies) }));
    mirror.recompressAll();
    while (mirror.compressBatch() > 0);
    const closed = async () => (await findSecrets([rig.folder], sought)).closed;
    expect(await closed()).toMatchObject([
      { path: rig.file, why: expect.stringMatching(/free pages.*compact/) },
    ]);
    mirror.vacuum();
    expect(await closed()).toEqual([]);
  });

  it("a mirror of which any page is damaged, unless it can be read all the same", async () => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const paths = Array.from({ length: 20 }, (_, index) => `brand-${index}/`);
    const bodies = paths.map((path) => [path, entity({ name: path, note: secret })] as const);
    walk(mirror, worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(bodies) }));
    mirror.close();
    expectClosed(rig.file);
    const bytes = readFileSync(rig.file);
    const pages = bytes.length / 4096;
    const whys = new Set<string>();
    for (let page = 1; page < pages; page++) {
      writeFileSync(rig.file, Buffer.from(bytes).fill(0xff, page * 4096, (page + 1) * 4096));
      const { found, unread, closed } = await findSecrets([rig.folder], sought);
      expect([found.length > 0, unread]).toEqual([true, []]);
      for (const { why } of closed) whys.add(why);
    }
    expect([...whys]).toEqual(["it is damaged"]);
  });
});
