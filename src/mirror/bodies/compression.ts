/**
 * Compresses and decompresses bodies. A body is stored as sent, or as a raw deflate stream (RFC 1951) with a dictionary of
 * similar bodies. Pure: it does not know where bodies and dictionaries are stored.
 */
import { hash } from "node:crypto";
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { limits } from "../../../schema/input/limits.ts";
import { DamagedBodyError } from "../file/errors.ts";

export type Codec = "identity" | "deflate";

export interface StoredBody {
  /** A {@link Codec}, unless the mirror is damaged or from a newer version. */
  readonly codec: string;
  /** Bytes as sent. */
  readonly size: number;
  readonly body: Buffer;
  readonly dictionaryId: number | null;
}

/** Bodies of one kind, concatenated, with which other bodies of the kind are deflated. */
export interface Dictionary {
  readonly id: number;
  readonly body: Buffer;
}

/** A body in its stored form. */
export interface EncodedBody {
  readonly codec: Codec;
  readonly body: Uint8Array;
  readonly dictionaryId: number | null;
}

/** Deflates a body, unless that would not make it smaller. */
export function encodeBody(body: Uint8Array, dictionary: Dictionary | null): EncodedBody {
  const deflated = deflateBody(body, dictionary?.body ?? null);
  if (deflated.byteLength >= body.byteLength) return uncompressed(body);
  return { codec: "deflate", body: deflated, dictionaryId: dictionary?.id ?? null };
}

export const uncompressed = (body: Uint8Array): EncodedBody => ({
  codec: "identity",
  body,
  dictionaryId: null,
});

/** zlib allocates its memory anew for each body: with less of it, typical bodies take three quarters of the time. */
const smallWindow = { windowBits: 13, memLevel: 5 };
const smallChunk = 1024;

export function deflateBody(body: Uint8Array, dictionary: Uint8Array | null): Buffer {
  const bytes = body.byteLength + (dictionary?.byteLength ?? 0);
  const isSmall = bytes <= 2 ** smallWindow.windowBits;
  return deflateRawSync(body, {
    ...(isSmall && smallWindow),
    ...(dictionary && { dictionary }),
    chunkSize: smallChunk,
  });
}

/**
 * Returns the bytes as sent. Some damage is only visible in their SHA-256, which this function does not check.
 * @throws DamagedBodyError
 */
export function decodeBody(
  { codec, size, body }: Omit<StoredBody, "dictionaryId">,
  dictionary: Uint8Array | null,
): Buffer {
  if (size > limits.bodyBytes) throw new DamagedBodyError(`the body has more than ${limits.bodyBytes} bytes`);
  if (codec === ("identity" satisfies Codec)) return body;
  if (codec !== ("deflate" satisfies Codec))
    throw new DamagedBodyError(`the body is stored with the unknown codec "${codec}"`);
  try {
    // With room for all of it at once, zlib takes half the time.
    const chunkSize = Math.min(Math.max(size + 1, constants.Z_MIN_CHUNK), constants.Z_DEFAULT_CHUNK);
    const options = { maxOutputLength: size, chunkSize };
    return inflateRawSync(body, dictionary === null ? options : { ...options, dictionary });
  } catch (error) {
    throw new DamagedBodyError("the body cannot be decompressed", { cause: error });
  }
}

/**
 * As `decodeBody`, after checking the length and SHA-256.
 * @param sha256 of the body as sent, in lower-case hexadecimal
 * @throws DamagedBodyError
 */
export function decodeProvenBody(
  stored: Omit<StoredBody, "dictionaryId">,
  dictionary: Uint8Array | null,
  sha256: string,
): Buffer {
  const body = decodeBody(stored, dictionary);
  if (body.byteLength !== stored.size || hash("sha256", body) !== sha256)
    throw new DamagedBodyError("the body does not match its SHA-256");
  return body;
}
