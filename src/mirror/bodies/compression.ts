/**
 * The two forms in which a body is stored: as it was sent, or deflated (RFC 1951) with a dictionary that it has much in
 * common with. Pure: where bodies and dictionaries lie is not known here.
 */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { DamagedBodyError } from "../file/errors.ts";

export type Codec = "identity" | "deflate";

export interface StoredBody {
  /** A {@link Codec}, in a mirror that is sound and of no later version. */
  readonly codec: string;
  /** Bytes as sent. */
  readonly size: number;
  readonly body: Buffer;
  readonly dictionaryId: number | null;
}

/** Bodies that others of the kind are deflated with, one after the other. */
export interface Dictionary {
  readonly id: number;
  readonly body: Buffer;
}

/** A body in the form in which it is stored. */
export interface PackedBody {
  readonly codec: Codec;
  readonly body: Uint8Array;
  readonly dictionaryId: number | null;
}

export const asItCame = (body: Uint8Array): PackedBody => ({ codec: "identity", body, dictionaryId: null });

/** As it came where that is no larger. */
export function packBody(body: Uint8Array, dictionary: Dictionary | null): PackedBody {
  const deflated = deflateBody(body, dictionary?.body ?? null);
  if (deflated.byteLength >= body.byteLength) return asItCame(body);
  return { codec: "deflate", body: deflated, dictionaryId: dictionary?.id ?? null };
}

/** Memory is taken for each body anew: for as little as bodies mostly are, that takes a quarter less time. */
const smallWindowBits = 14;
const smallChunk = 1024;

export function deflateBody(body: Uint8Array, dictionary: Uint8Array | null): Buffer {
  const bytes = body.byteLength + (dictionary?.byteLength ?? 0);
  const windowBits = bytes <= 2 ** smallWindowBits ? smallWindowBits : constants.Z_DEFAULT_WINDOWBITS;
  return deflateRawSync(body, { windowBits, chunkSize: smallChunk, ...(dictionary && { dictionary }) });
}

/**
 * The bytes as sent, unless the damage is such that only their SHA-256 shows it.
 * @throws DamagedBodyError
 */
export function decodeBody({ codec, size, body }: StoredBody, dictionary: Uint8Array | null): Buffer {
  if (codec === ("identity" satisfies Codec)) return body;
  if (codec !== ("deflate" satisfies Codec))
    throw new DamagedBodyError(`the body is stored as "${codec}", which is not known`);
  try {
    const options = { maxOutputLength: size };
    return inflateRawSync(body, dictionary === null ? options : { ...options, dictionary });
  } catch (error) {
    throw new DamagedBodyError("the body cannot be decompressed", { cause: error });
  }
}
