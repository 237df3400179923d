/** Damage to a mirror's file is found, and opening the file does not make it worse. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { MirrorError } from "../../../src/mirror/file/errors.ts";
import { type MirrorReader, openMirrorReader } from "../../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { expectUnreadable } from "../../support/canary.ts";
import { type CanonicalDump, canonicalDump } from "../../support/canonical-dump.ts";
import { overwriteFreePage } from "../../support/overwrite-table.ts";
import { tries } from "../../support/thorough.ts";
import { crawl, type MirrorRig, someTime, startMirrorRig } from "../support/mirror-rig.ts";
import { worldOfTruth } from "../support/world.ts";

let rig: MirrorRig;
let sound: Buffer;
let soundDump: CanonicalDump;
let identity: MirrorReader["identity"];
let copies = 0;

beforeAll(async () => {
  await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14 });
  rig = await startMirrorRig(sandbox.url);
  const mirror = await rig.write();
  crawl(mirror, worldOfTruth(sandbox.truth()));
  crawl(mirror, worldOfTruth(sandbox.truth()));
  identity = mirror.identity;
  soundDump = canonicalDump(mirror);
  mirror.close();
  sound = readFileSync(rig.file);
});
afterAll(() => rig[Symbol.asyncDispose]());

function fileOf(bytes: Uint8Array): string {
  const file = join(rig.folder, `copy-${copies++}.sqlite`);
  expectUnreadable(file);
  writeFileSync(file, bytes);
  return file;
}

/** @returns the first problem; null if there is none, and then the content must be unchanged */
function findDamage(file: string): string | null {
  let mirror: MirrorReader;
  try {
    mirror = openMirrorReader(file);
  } catch (error) {
    if (error instanceof MirrorError) return error.code;
    throw error;
  }
  try {
    const [problem] = checkMirror(mirror, kinds).problems;
    if (problem !== undefined) return problem.code;
    expect(canonicalDump(mirror)).toEqual(soundDump);
    return null;
  } finally {
    mirror.close();
  }
}

async function openForWritingAndClose(file: string): Promise<void> {
  try {
    (await openMirrorWriter({ file, identity, kinds, openedAt: someTime })).close();
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
  }
}

it("the original file is sound", () => {
  expect(findDamage(fileOf(sound))).toBeNull();
});

it("damage to the list of free pages is found", () => {
  const file = fileOf(sound);
  overwriteFreePage(file);
  expect(findDamage(file)).toBe("file");
});

describe("one changed bit", () => {
  it("a changed bit is found, or changes no resource", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(sound.length - 1),
        fc.nat(7),
        fc.boolean(),
        async (position, bit, isOpenedForWriting) => {
          const bytes = Buffer.from(sound);
          bytes.writeUInt8(bytes.readUInt8(position) ^ (1 << bit), position);
          const file = fileOf(bytes);
          const found = findDamage(file);
          if (!isOpenedForWriting) return;
          await openForWritingAndClose(file);
          expect(readFileSync(file).length).toBeGreaterThanOrEqual(bytes.length);
          if (found === null) expect(findDamage(file)).toBeNull();
        },
      ),
      { numRuns: tries(40, 1000) },
    );
  });

  it("every changed bit in a body is found", () => {
    const bodies = sound.indexOf('"welcome"');
    expect(bodies).toBeGreaterThan(0);
    fc.assert(
      fc.property(fc.nat(40), fc.nat(7), (offset, bit) => {
        const bytes = Buffer.from(sound);
        bytes.writeUInt8(bytes.readUInt8(bodies + offset) ^ (1 << bit), bodies + offset);
        expect(findDamage(fileOf(bytes))).not.toBeNull();
      }),
      { numRuns: 30 },
    );
  });
});

it("a page overwritten with zeros is found", () => {
  for (let start = 0; start < sound.length; start += 4096) {
    const bytes = Buffer.from(sound).fill(0, start, start + 4096);
    const found = findDamage(fileOf(bytes));
    if (!bytes.equals(sound)) expect(found).not.toBeNull();
  }
});

it("a truncated file is found and not overwritten", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: sound.length - 1 }), async (length) => {
      const bytes = sound.subarray(0, length);
      const file = fileOf(bytes);
      expect(findDamage(file)).not.toBeNull();
      await openForWritingAndClose(file);
      expect(readFileSync(file).subarray(100, length).equals(bytes.subarray(100))).toBe(true);
    }),
    {
      numRuns: 40,
      examples: [[1], [15], [16], [99], [100], [511], [512], [4095], [4096], [4097], [sound.length - 1]],
    },
  );
});
