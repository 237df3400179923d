/** A file that is there as a whole or not at all: written beside its place, readable by its owner alone, and renamed. */
import { hash, randomBytes } from "node:crypto";
import { open, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { isProcessAlive } from "../mirror/file/is-process-alive.ts";
import { syncFolder } from "../mirror/file/sync-folder.ts";

export interface WrittenFile {
  readonly bytes: number;
  /**
   * Puts it in its place, over whatever is there; durable when this returns.
   * @param as another place in the same folder
   */
  commit(as?: string): Promise<void>;
  discard(): Promise<void>;
}

/** The next backup has another name, so what a killed process left is known by ours, and by the computer that can tell whether it lives. */
const partialPrefix = `.armoire-partial-${hash("sha256", hostname()).slice(0, 8)}-`;

/**
 * Writes what is to be at `place`, durably, beside it; nothing is left of it when this fails.
 * @throws the system's error, what `chunks` throws, or the signal's reason
 */
export async function writeBeside(
  place: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<WrittenFile> {
  const folder = dirname(place);
  await removeLeftovers(folder);
  const partial = join(folder, `${partialPrefix}${process.pid}-${randomBytes(6).toString("hex")}`);
  const discard = () => rm(partial, { force: true });
  const file = await open(partial, "wx", 0o600);
  let bytes = 0;
  try {
    try {
      for await (const chunk of chunks) {
        signal?.throwIfAborted();
        await file.writeFile(chunk);
        bytes += chunk.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    bytes,
    discard,
    async commit(as = place) {
      await rename(partial, as);
      syncFolder(folder);
    },
  };
}

/** What killed processes left in the folder: somebody's data, which nobody would look for there. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (
      !name.startsWith(partialPrefix) ||
      isProcessAlive(Number.parseInt(name.slice(partialPrefix.length), 10))
    )
      continue;
    await rm(join(folder, name), { force: true });
  }
}
