/**
 * The contents of a Parquet file as bytes, for a search: its decompressed pages, and its texts where pages hold them in parts.
 * In: a path. Out: pieces, one column of one row group after the other. It also reads files of other programs.
 */
import { type FileHandle, open } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import {
  type AsyncBuffer,
  type Compressors,
  parquetMetadataAsync,
  parquetRead,
  snappyUncompress,
} from "hyparquet";

/** `codec`: a compression that Node cannot undo. `too-large`: the contents exceed the limit. */
export class ParquetError extends Error {
  override readonly name = "ParquetError";
  readonly code: "damaged" | "codec" | "too-large";

  constructor(code: ParquetError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A file as hyparquet reads it. @param maxBytes of one part; a longer one is an error */
async function toAsyncBuffer(file: FileHandle, maxBytes = Number.POSITIVE_INFINITY): Promise<AsyncBuffer> {
  const { size: byteLength } = await file.stat();
  return {
    byteLength,
    async slice(start, end = byteLength) {
      if (end - start > Math.min(maxBytes, byteLength)) throw new RangeError("The part is too long.");
      const bytes = new ArrayBuffer(end - start);
      await file.read(new Uint8Array(bytes), 0, end - start, start);
      return bytes;
    },
  };
}

/** A footer of ours takes some kilobytes. */
const maxFooterBytes = 2 ** 26;

/** From the footer. @throws an error of the reader; a system error */
export async function readRowCount(path: string): Promise<bigint> {
  const file = await open(path, "r");
  try {
    return (await parquetMetadataAsync(await toAsyncBuffer(file, maxFooterBytes))).num_rows;
  } finally {
    await file.close();
  }
}

/** @param length of the page, as its header states it */
type Decompress = (bytes: Uint8Array, length: number) => Uint8Array;

const limitTo = (length: number) => ({ maxOutputLength: Math.max(1, length) });
const decompressors: Readonly<Record<string, Decompress>> = {
  BROTLI: (bytes, length) => brotliDecompressSync(bytes, limitTo(length)),
  GZIP: (bytes, length) => gunzipSync(bytes, limitTo(length)),
  SNAPPY(bytes, length) {
    const page = new Uint8Array(length);
    snappyUncompress(bytes, page);
    return page;
  },
  ZSTD: (bytes, length) => zstdDecompressSync(bytes, limitTo(length)),
};
const readableCodecs = new Set(["UNCOMPRESSED", ...Object.keys(decompressors)]);

/**
 * @param maxBytes of all decompressed pages, and the number of all values
 * @throws ParquetError after the last readable piece, errors of the system
 */
export async function* readParquetContents(path: string, maxBytes: number): AsyncGenerator<Buffer> {
  const handle = await open(path, "r");
  try {
    const file = await toAsyncBuffer(handle);
    const metadata = await parquetMetadataAsync(file);
    const columns = metadata.row_groups.flatMap((group) => group.columns.flatMap((c) => c.meta_data ?? []));
    const foreign = columns.find(({ codec }) => !readableCodecs.has(codec));
    if (foreign !== undefined) throw new ParquetError("codec", foreign.codec);
    if (columns.reduce((sum, column) => sum + Number(column.num_values), 0) > maxBytes)
      throw new ParquetError("too-large", `more than ${maxBytes} values`);
    const names = new Set(columns.flatMap(({ path_in_schema: [name] }) => name ?? []));
    const collect = collector(maxBytes);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      for (const name of names) {
        await parquetRead({ file, metadata, columns: [name], rowStart, rowEnd, ...collect.options });
        yield* collect.take();
      }
      rowStart = rowEnd;
    }
  } catch (error) {
    if (error instanceof ParquetError || (error instanceof Error && "syscall" in error)) throw error;
    throw new ParquetError("damaged", "it cannot be read", { cause: error });
  } finally {
    await handle.close();
  }
}

/** Options with which hyparquet hands over all pages that it decompresses, and all texts that it decodes. */
function collector(maxBytes: number) {
  let pieces: Buffer[] = [];
  let texts: Uint8Array[] = [];
  let left = maxBytes;
  const add = (bytes: Uint8Array): Uint8Array => {
    left -= bytes.length;
    if (left < 0) throw new ParquetError("too-large", `more than ${maxBytes} bytes`);
    pieces.push(Buffer.from(bytes));
    return bytes;
  };
  const compressors = Object.fromEntries(
    Object.entries(decompressors).map(([codec, decompress]) => [
      codec,
      (input: Uint8Array, length: number) => {
        if (length > left) throw new ParquetError("too-large", `more than ${maxBytes} bytes`);
        return add(decompress(input, length));
      },
    ]),
  ) as Compressors;
  const keepText = (bytes: Uint8Array): string => {
    texts.push(bytes, separator);
    return "";
  };
  return {
    options: { compressors, parsers: { stringFromBytes: keepText, jsonFromBytes: keepText } },
    take(): Buffer[] {
      const taken = [...pieces, Buffer.concat(texts)];
      pieces = [];
      texts = [];
      return taken;
    },
  };
}

/** So that the end of one text and the beginning of the next are not taken for one. */
const separator = Buffer.from("\n");
