/** The compression of small bodies: zlib reads what it writes, and would hardly write less. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deflate, maxDeflatedBytes } from "../../../src/mirror/bodies/deflate.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";

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

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

function expectSame(body: Uint8Array, dictionary: Uint8Array): void {
  const deflated = deflate(body, dictionary);
  if (deflated === null) throw new Error("it was not deflated");
  const options = dictionary.length === 0 ? {} : { dictionary };
  expect(hexOf(inflateRawSync(deflated, options))).toBe(hexOf(body));
}

describe("deflate", () => {
  it("writes what zlib reads, for any body and dictionary", () => {
    const dictionaries: Uint8Array[] = [];
    fc.assert(
      fc.property(anyBytes(maxDeflatedBytes), anyBytes(5_000), fc.nat(), (body, given, seed) => {
        // Dictionaries are used again, and bodies repeat parts of them.
        const dictionary = dictionaries[seed % (dictionaries.length + 1)] ?? given;
        if (dictionary === given) dictionaries.push(given);
        expectSame(body, dictionary);
        const from = seed % (dictionary.length + 1);
        const repeated = [body, dictionary.subarray(from, from + 700), body];
        expectSame(Buffer.concat(repeated).subarray(0, maxDeflatedBytes), dictionary);
      }),
    );
  });

  it("writes the longest matches, and all distances", () => {
    const noise = Uint8Array.from({ length: 30_000 }, (_, n) => (Math.imul(n + 1, 0x9e3779b1) >>> 13) & 0xff);
    for (let from = 0; from < noise.length; from += 97) {
      expectSame(noise.slice(from, from + 3 + (from % 300)), noise);
    }
    expectSame(new Uint8Array(maxDeflatedBytes).fill(97), noise);
  });

  it("leaves large bodies and dictionaries to zlib", () => {
    expect(deflate(new Uint8Array(maxDeflatedBytes + 1), new Uint8Array(10))).toBeNull();
    expect(deflate(new Uint8Array(10), new Uint8Array(30_001))).toBeNull();
  });

  it("makes bodies of a catalogue about as small as zlib does", async () => {
    await using sandbox = await startSandbox({ brands: 3, models: 40, sizes: 200 });
    const bodies = [...sandbox.truth()].map(({ body }) => Buffer.from(JSON.stringify(body)));
    const dictionary = Buffer.concat(bodies.filter((_, n) => n % 40 === 0)).subarray(0, 4096);
    const small = bodies.filter((body) => body.length <= maxDeflatedBytes);
    const sizeOf = (write: (body: Buffer) => Uint8Array | null) =>
      small.reduce((sum, body) => sum + (write(body)?.length ?? Number.NaN), 0);
    const ofZlib = sizeOf((body) => deflateRawSync(body, { dictionary }));
    expect(sizeOf((body) => deflate(body, dictionary))).toBeLessThan(1.03 * ofZlib);
  });
});
