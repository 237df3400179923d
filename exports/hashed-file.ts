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
  const file = await open(path, "wx", 0o600);
  try {
    for (const chunk of chunks) {
      signal?.throwIfAborted();
      const data = Buffer.from(chunk);
      hash.update(data);
      bytes += data.length;
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
