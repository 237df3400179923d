/** The lines of text files, read on demand. Compressed files are decompressed first, into a file that has no name. */
import { closeSync, createReadStream, openSync, readSync, rmSync, writeSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requireFreeSpace } from "../../src/platform/files/free-space.ts";
import { openRegularFile } from "../../src/platform/files/regular-files.ts";
import { ExportError } from "../errors.ts";
import { type Compression, decompress } from "../formats/compression.ts";

export interface Lines {
  /** May be called several times. @throws FileError `not-a-file`; a system error */
  read(): Generator<string>;
  close(): void;
}

export interface CompressedFile {
  readonly bytes: number;
  readonly compression?: Compression;
  readonly decompressedBytes?: number;
}

/** Rows compress at most a hundredfold. A small file that states more is made to fill a disk. */
const maxRatio = 1_000;
const ratioFloorBytes = 2 ** 26;

/** The most that is decompressed: what the descriptor states, within reason. */
export const maxDecompressedBytes = ({ bytes, decompressedBytes = 0 }: CompressedFile): number =>
  Math.min(decompressedBytes, Math.max(ratioFloorBytes, maxRatio * bytes));

/** @throws FileError `disk-full`; ExportError `damaged-package` if it is longer than stated; a system error */
export async function openLines(path: string, file: CompressedFile): Promise<Lines> {
  if (file.compression === undefined) return { read: () => readLines(path), close: () => {} };
  const maxBytes = maxDecompressedBytes(file);
  const folder = tmpdir();
  requireFreeSpace({ folder, bytes: maxBytes, purpose: `Reading ${path}` });
  const handle = await openNameless(folder);
  try {
    const bytes = decompress(createReadStream(path), file.compression, { path, maxBytes });
    for await (const chunk of bytes) writeAll(handle, chunk);
    return { read: () => linesOf(handle), close: () => closeSync(handle) };
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/** A kill leaves nothing: the name is gone before the first byte is written. */
async function openNameless(parent: string): Promise<number> {
  const folder = await mkdtemp(join(parent, "armoire-"));
  try {
    return openSync(join(folder, "lines"), "wx+", 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeAll(handle: number, chunk: Uint8Array): void {
  for (let written = 0; written < chunk.length; ) written += writeSync(handle, chunk, written);
}

/** The lines of a UTF-8 file, without LF. @throws FileError `not-a-file`; a system error */
export function* readLines(path: string): Generator<string> {
  const handle = openRegularFile(path);
  try {
    yield* linesOf(handle);
  } finally {
    closeSync(handle);
  }
}

const chunkBytes = 1 << 16;

/** From the beginning of the file. */
function* linesOf(handle: number): Generator<string> {
  const splitter = lineSplitter();
  const chunk = Buffer.alloc(chunkBytes);
  for (let position = 0; ; ) {
    const length = readSync(handle, chunk, 0, chunkBytes, position);
    if (length === 0) break;
    position += length;
    yield* splitter.add(chunk.subarray(0, length));
  }
  yield* splitter.end();
}

export interface LineSplitter {
  /** The lines that end in this chunk. */
  add(chunk: Uint8Array): readonly string[];
  /** The line without an end, if there is one. */
  end(): readonly string[];
}

/** A row is far shorter, and a text of V8 not much longer. */
const maxLineLength = 2 ** 28;

/** Both throw ExportError `damaged-package`: for bytes that are not UTF-8, and for a line without an end. */
export function lineSplitter(): LineSplitter {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw damagedText("The export has bytes that are not UTF-8.", cause);
    }
  };
  // Only new text is searched for line ends: a line may be as long as the file.
  let open = "";
  return {
    add(chunk) {
      const [first = "", ...lines] = decode(chunk).split("\n");
      open += first;
      if (open.length > maxLineLength)
        throw damagedText(`A line of the export is longer than ${maxLineLength} characters.`);
      if (lines.length === 0) return [];
      const whole = [open, ...lines.slice(0, -1)];
      open = lines.at(-1) ?? "";
      return whole;
    },
    end() {
      open += decode();
      return open === "" ? [] : [open];
    },
  };
}

function damagedText(message: string, cause?: unknown): ExportError {
  return new ExportError("damaged-package", message, "Export again, or restore the folder from a copy.", {
    cause,
  });
}
