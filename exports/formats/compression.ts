/** Compressed text files: gzip and Zstandard. The same chunks give the same bytes. */
import { pipeline, Readable } from "node:stream";
import { constants, createGunzip, createGzip, createZstdCompress, createZstdDecompress } from "node:zlib";
import { ExportError } from "../errors.ts";

export const compressions = ["gzip", "zstd"] as const;
export type Compression = (typeof compressions)[number];

/** The endings of file names. */
export const compressedEndings = { gzip: ".gz", zstd: ".zst" } as const;

/** As UTF-8. */
export function* toBytes(chunks: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

/** @throws errors of `chunks`; the signal's reason */
export async function* compress(
  chunks: Iterable<Uint8Array>,
  compression: Compression,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  function* interruptible(): Generator<Uint8Array> {
    for (const chunk of chunks) {
      // Many chunks become one compressed one.
      signal?.throwIfAborted();
      yield chunk;
    }
  }
  yield* transform(interruptible(), compression === "gzip" ? createGzip() : createZstdCompress());
}

/**
 * @param path for errors
 * @throws ExportError `damaged-package` if it is not compressed so, or longer than `maxBytes`; errors of `chunks`
 */
export async function* decompress(
  chunks: AsyncIterable<Uint8Array>,
  compression: Compression,
  { path, maxBytes }: { readonly path: string; readonly maxBytes: number },
): AsyncGenerator<Uint8Array> {
  const decoder =
    compression === "gzip"
      ? createGunzip()
      : // A frame may ask for gigabytes; ours ask for 2 MiB.
        createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } });
  let bytes = 0;
  try {
    for await (const chunk of transform(chunks, decoder)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw damaged(path, `it has more than ${maxBytes} bytes`);
      yield chunk;
    }
  } catch (error) {
    const isOfZlib =
      error instanceof Error && "code" in error && /^(Z|ZSTD|ERR_ZLIB)_/.test(String(error.code));
    throw isOfZlib ? damaged(path, error.message) : error;
  }
}

/** The error of the source becomes that of the transform, which the caller reads. */
async function* transform(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  through: ReturnType<typeof createGzip>,
): AsyncGenerator<Uint8Array> {
  pipeline(Readable.from(chunks), through, () => {});
  yield* through;
}

function damaged(path: string, reason: string): ExportError {
  return new ExportError(
    "damaged-package",
    `${path} cannot be decompressed: ${reason}.`,
    "Export again, or restore the file from a copy.",
  );
}
