import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { ServiceLimits } from "./pool.ts";

/** The encodings that are offered in `Accept-Encoding`; nothing else is decoded. */
export const offeredEncodings = ["gzip", "br", "zstd"] as const;
type Encoding = (typeof offeredEncodings)[number] | "identity";

/** The encoding that `Content-Encoding` names; null for several, or for one that was not offered. */
export function readEncoding(header: string | string[] | undefined): Encoding | null {
  if (header === undefined) return "identity";
  if (typeof header !== "string") return null;
  const name = header.trim().toLowerCase();
  if (name === "" || name === "identity") return "identity";
  return offeredEncodings.find((offered) => offered === name) ?? null;
}

const ratioFloorBytes = 1024 * 1024;

/**
 * Decodes synchronously, which for a few kilobytes is far cheaper than a stream. `maxOutputLength` stops
 * decompression bombs. Ends and checksums (gzip, zstd) must be right, and nothing may follow.
 */
export function decode(
  wire: Uint8Array,
  encoding: Encoding,
  limits: ServiceLimits,
): Uint8Array | "too-large" | "incomplete" {
  if (encoding === "identity") {
    return wire.length > limits.decodedBytes ? "too-large" : wire;
  }
  const maxOutputLength = Math.min(
    limits.decodedBytes,
    Math.max(ratioFloorBytes, wire.length * limits.ratio),
  );
  const options = { maxOutputLength, rejectGarbageAfterEnd: true };
  try {
    // A copy in a buffer of its own: zlib's result may be a view of a larger one.
    return new Uint8Array(decompress(wire, encoding, options));
  } catch (error) {
    const isTooLarge =
      error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return isTooLarge ? "too-large" : "incomplete";
  }
}

function decompress(
  wire: Uint8Array,
  encoding: (typeof offeredEncodings)[number],
  options: { maxOutputLength: number },
) {
  switch (encoding) {
    case "gzip":
      return gunzipSync(wire, options);
    case "br":
      return brotliDecompressSync(wire, options);
    case "zstd":
      // 8 MiB of window is what RFC 9659 allows over HTTP; a frame may ask for gigabytes.
      return zstdDecompressSync(wire, { ...options, params: { [constants.ZSTD_d_windowLogMax]: 23 } });
  }
}
