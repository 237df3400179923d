/**
 * Files of any length: written from chunks, hashed, and flushed to disk. Flushing goes on in the background while more is
 * written, but no error of it is lost, and no file is taken for durable before it is.
 */
import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";

/** Text is written as UTF-8. */
export type Chunks = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Takes over a file that has been written, flushes it in the background and closes it. */
export type Flush = (file: FileHandle) => void;

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: readable by its owner only. The umask still applies. */
  readonly mode?: number | undefined;
  /** Default: the content is durable on return. */
  readonly flush?: Flush | undefined;
}

/**
 * Flushes files in the background while `write` writes others. On return all of them are durable.
 * @throws what `write` throws, or else the first error of flushing; no file is open then
 */
export async function withBackgroundFlushes<Result>(
  write: (flush: Flush) => Promise<Result>,
): Promise<Result> {
  const flushes: Promise<void>[] = [];
  const flush: Flush = (file) => {
    flushes.push(inBackground(flushAndClose(file)));
  };
  try {
    const result = await write(flush);
    await Promise.all(flushes);
    return result;
  } finally {
    await Promise.allSettled(flushes);
  }
}

async function flushAndClose(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Its error is thrown where it is awaited, and until then it is not one that nothing handles. */
function inBackground(work: Promise<void>): Promise<void> {
  work.catch(() => {});
  return work;
}

/** Flushes the content of a file that others have written. @throws a system error */
export async function flushFile(path: string): Promise<void> {
  await flushAndClose(await open(path, "r+"));
}

export interface FileSummary {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

const ownerOnly = 0o600;

/** Then the last flush has little left to do. */
const bytesBetweenFlushes = 8_388_608;

/**
 * Creates a file and flushes its content, but not its name.
 * @throws a system error, also if the file exists; errors of `chunks`; the signal's reason; the file is then incomplete
 */
export async function writeHashedFile(
  path: string,
  chunks: Chunks,
  { signal, mode = ownerOnly, flush }: WriteOptions = {},
): Promise<FileSummary> {
  const digest = createHash("sha256");
  const file = await open(path, "wx", mode);
  let isHandedOver = false;
  try {
    let bytes = 0;
    let bytesAtFlush = 0;
    let flushed = Promise.resolve();
    for await (const piece of collectPieces(chunks, signal)) {
      digest.update(piece);
      // Into the page cache, which takes less time than a promise.
      for (let written = 0; written < piece.length; ) written += writeSync(file.fd, piece, written);
      bytes += piece.length;
      // In this pause, signals are noticed.
      await setImmediate();
      if (bytes - bytesAtFlush < bytesBetweenFlushes) continue;
      bytesAtFlush = bytes;
      await flushed;
      flushed = inBackground(file.datasync());
    }
    await flushed;
    if (flush === undefined) await file.sync();
    else {
      flush(file);
      isHandedOver = true;
    }
    return { bytes, sha256: digest.digest("hex") };
  } finally {
    if (!isHandedOver) await file.close();
  }
}

const pieceBytes = 65_536;

/** Many chunks become one piece. It is valid until the next one: all are in one buffer. */
async function* collectPieces(chunks: Chunks, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(pieceBytes);
  const encoder = new TextEncoder();
  let filled = 0;
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    for (let rest: string | Uint8Array = chunk; rest.length > 0; ) {
      const free = buffer.subarray(filled);
      const { read, written } =
        typeof rest === "string" ? encoder.encodeInto(rest, free) : copyInto(rest, free);
      filled += written;
      if (read === rest.length) break;
      yield buffer.subarray(0, filled);
      filled = 0;
      rest = typeof rest === "string" ? rest.slice(read) : rest.subarray(read);
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

/** As `TextEncoder.encodeInto`, for bytes. */
function copyInto(bytes: Uint8Array, free: Uint8Array): { readonly read: number; readonly written: number } {
  const count = Math.min(bytes.length, free.length);
  free.set(bytes.subarray(0, count));
  return { read: count, written: count };
}

const hashedAtOnce = 262_144;

/** @throws a system error */
export async function hashFile(path: string): Promise<FileSummary> {
  const digest = createHash("sha256");
  // One buffer for all of it: those of a stream are collected late.
  const buffer = Buffer.allocUnsafe(hashedAtOnce);
  const file = await open(path);
  try {
    for (let bytes = 0; ; ) {
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) return { bytes, sha256: digest.digest("hex") };
      digest.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}
