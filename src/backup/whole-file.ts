/** A file that is there as a whole or not at all: written beside its place, readable by its owner alone, and renamed. */
import { randomBytes } from "node:crypto";
import { open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAlive, syncFolder } from "../../exports/replace-folder.ts";

export interface WrittenFile {
  readonly bytes: number;
  /** Puts it in its place, over whatever is there; durable when this returns. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

const partialPrefix = (place: string) => `.${basename(place)}.armoire-partial-`;

/**
 * Writes what is to be at `place`, durably, beside it; nothing is left of it when this fails.
 * @throws the system's error, what `chunks` throws, or the signal's reason
 */
export async function writeBeside(
  place: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<WrittenFile> {
  await removeLeftovers(place);
  const partial = join(
    dirname(place),
    `${partialPrefix(place)}${process.pid}-${randomBytes(6).toString("hex")}`,
  );
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
    async commit() {
      await rename(partial, place);
      await syncFolder(dirname(place));
    },
  };
}

/** What killed processes left beside the place. */
async function removeLeftovers(place: string): Promise<void> {
  const prefix = partialPrefix(place);
  for (const name of await readdir(dirname(place))) {
    if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    await rm(join(dirname(place), name), { force: true });
  }
}
