/** The decompression of small bodies: what zlib writes is read, whatever its options; damage is found or gives other bytes. */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inflate, maxInflatedBytes } from "../../../src/mirror/bodies/inflate.ts";

/** Repetitive, as texts are, or noise. */
const anyBytes = (maxLength: number) =>
  fc.oneof(
    fc.uint8Array({ maxLength }),
    fc
      .array(fc.tuple(fc.string({ unit: "binary", maxLength: 40 }), fc.nat({ max: 40 })), { maxLength: 30 })
      .map((parts) =>
        Buffer.from(parts.map(([text, times]) => text.repeat(times)).join("")).subarray(0, maxLength),
      ),
  );

const anyOptions = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  windowBits: fc.integer({ min: 9, max: 15 }),
  memLevel: fc.integer({ min: 1, max: 9 }),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_FILTERED,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
    constants.Z_FIXED,
  ),
});

const bytesOf = (found: Uint8Array | null) => found && Buffer.from(found).toString("hex");

describe("inflate", () => {
  it("reads what zlib writes with any options and any dictionary", () => {
    fc.assert(
      fc.property(
        anyBytes(maxInflatedBytes),
        fc.option(anyBytes(2 ** 15)),
        anyOptions,
        (bytes, dictionary, options) => {
          const given = dictionary === null || dictionary.length === 0 ? {} : { dictionary };
          const stream = deflateRawSync(bytes, { ...options, ...given });
          const followed = Buffer.concat([stream, Buffer.from("more")]);
          for (const source of [stream, followed])
            expect(bytesOf(inflate(source, dictionary, bytes.length))).toBe(
              Buffer.from(bytes).toString("hex"),
            );
          expect(inflate(stream, dictionary, bytes.length + 1)).toBeNull();
          if (bytes.length > 0) expect(inflate(stream, dictionary, bytes.length - 1)).toBeNull();
        },
      ),
    );
  });

  it("reads long codes, long matches, and distances up to the whole window", () => {
    const skewed = Buffer.concat(
      Array.from({ length: 16 }, (_, n) => Buffer.alloc(2 ** Math.max(0, 14 - n), 7 * n)),
    );
    const far = Buffer.concat([Buffer.from("beginning"), Buffer.alloc(32_700), Buffer.from("beginning")]);
    for (const bytes of [skewed, far, Buffer.alloc(maxInflatedBytes, "a")])
      for (const strategy of [constants.Z_DEFAULT_STRATEGY, constants.Z_HUFFMAN_ONLY])
        expect(bytesOf(inflate(deflateRawSync(bytes, { strategy }), null, bytes.length))).toBe(
          bytes.toString("hex"),
        );
    const dictionary = Buffer.concat([Buffer.from("the dictionary begins"), Buffer.alloc(2 ** 15 - 21, ".")]);
    const body = Buffer.from("the dictionary begins");
    expect(bytesOf(inflate(deflateRawSync(body, { dictionary }), dictionary, body.length))).toBe(
      body.toString("hex"),
    );
    expect(inflate(deflateRawSync(body), Buffer.alloc(2 ** 15 + 1), body.length)).toBeNull();
  });

  it("accepts damaged streams only where zlib does, with the same bytes", () => {
    fc.assert(
      fc.property(
        anyBytes(2000),
        anyOptions,
        fc.array(fc.nat(), { maxLength: 4 }),
        (bytes, options, bits) => {
          const stream = Buffer.from(deflateRawSync(bytes, options));
          for (const bit of bits) {
            const at = (bit >> 3) % stream.length;
            stream[at] = (stream[at] ?? 0) ^ (1 << (bit & 7));
          }
          const cut = stream.subarray(0, stream.length - ((bits[0] ?? 0) % 3));
          const found = inflate(cut, null, bytes.length);
          if (found === null) return;
          expect(bytesOf(found)).toBe(
            inflateRawSync(cut, { maxOutputLength: maxInflatedBytes }).toString("hex"),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("ends for any bytes, with no more than was asked for", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: -1, max: 5000 }), (noise, size) => {
        expect([undefined, size]).toContain(inflate(noise, null, size)?.length);
      }),
      { numRuns: 2000 },
    );
  });
});
