import {
  brotliDecompressSync,
  constants,
  type Gunzip,
  gunzipSync,
  type ZstdDecompress,
  zstdDecompressSync,
} from "node:zlib";
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
 * decompression bombs. Ends and checksums (gzip, zstd) must be right, and nothing may follow but further members of gzip or
 * frames of zstd.
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
  try {
    // A copy in a buffer of its own: zlib's result may be a view of a larger one.
    return new Uint8Array(decompress(wire, encoding, maxOutputLength));
  } catch (error) {
    const isTooLarge =
      error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return isTooLarge ? "too-large" : "incomplete";
  }
}

/** @throws an error of zlib, or for other data after the end */
function decompress(
  wire: Uint8Array,
  encoding: (typeof offeredEncodings)[number],
  maxOutputLength: number,
): Buffer {
  switch (encoding) {
    case "gzip":
      return gunzip(wire, maxOutputLength);
    case "br":
      return brotliDecompressSync(wire, { maxOutputLength, rejectGarbageAfterEnd: true });
    case "zstd":
      return decompressZstd(wire, maxOutputLength);
  }
}

/** `rejectGarbageAfterEnd` would refuse further members, which RFC 1952 allows; without it, zlib ignores data after a NUL. */
function gunzip(wire: Uint8Array, maxOutputLength: number): Buffer {
  const info: unknown = gunzipSync(wire, { maxOutputLength, info: true });
  // `bytesWritten` counts the input.
  const { buffer, engine } = info as { readonly buffer: Buffer; readonly engine: Gunzip };
  if (engine.bytesWritten !== wire.length) throw new Error("data after the last member");
  return buffer;
}

/** 8 MiB is what RFC 9659 allows over HTTP; a frame may ask for gigabytes. */
const windowOfZstd = { [constants.ZSTD_d_windowLogMax]: 23 };

/** Each takes some time, even if it is empty. */
const maxFrames = 1000;

/** Node decompresses the first frame only; RFC 8878 allows further ones. */
function decompressZstd(wire: Uint8Array, maxOutputLength: number): Buffer {
  const frames: Buffer[] = [];
  let [at, left] = [0, maxOutputLength];
  do {
    if (frames.length === maxFrames) throw new Error("too many frames");
    const options = { maxOutputLength: Math.max(1, left), params: windowOfZstd, info: true };
    const info: unknown = zstdDecompressSync(wire.subarray(at), options);
    const { buffer, engine } = info as { readonly buffer: Buffer; readonly engine: ZstdDecompress };
    at += engine.bytesWritten;
    left -= buffer.length;
    frames.push(buffer);
  } while (at < wire.length);
  const [first] = frames;
  return first !== undefined && frames.length === 1 ? first : Buffer.concat(frames);
}
