import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";

export interface FileSummary {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Writes a new file, readable by its owner only, as fast as the disk takes it, and hashes on the way; it is durable when
 * this returns.
 * @throws the system's error, what `chunks` throws, or the signal's reason
 */
export async function writeHashedFile(
  path: string,
  chunks: Iterable<string>,
  signal?: AbortSignal,
): Promise<FileSummary> {
  const hash = createHash("sha256");
  let bytes = 0;
  // One buffer for all chunks: a new one for each makes the garbage collector work ten times as hard.
  let buffer = Buffer.allocUnsafeSlow(65_536);
  const file = await open(path, "wx", 0o600);
  try {
    for (const chunk of chunks) {
      signal?.throwIfAborted();
      const size = Buffer.byteLength(chunk);
      if (size > buffer.length) buffer = Buffer.allocUnsafeSlow(size);
      const data = buffer.subarray(0, buffer.write(chunk));
      hash.update(data);
      bytes += size;
      await file.writeFile(data);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** @throws the system's error */
export async function hashFile(path: string): Promise<FileSummary> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
