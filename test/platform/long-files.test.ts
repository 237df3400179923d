import { createHash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { hashFile, withBackgroundFlushes, writeHashedFile } from "../../src/platform/files/long-files.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const anyChunk = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.uint8Array(),
  // Longer than a piece, with characters of one to four bytes at its end.
  fc
    .tuple(fc.constantFrom("a", "é", "€", "😀"), fc.integer({ min: 0, max: 70_000 }))
    .map(([text, count]) => text.repeat(count)),
  fc.integer({ min: 0, max: 140_000 }).map((length) => new Uint8Array(length).fill(7)),
);

it("a file holds its chunks in order, whatever their lengths, and its hash is that of its content", async () => {
  await using folder = await temporaryFolder();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyChunk, { maxLength: 8 }), fc.boolean(), async (chunks, isInBackground) => {
      const path = join(folder.path, String(count++));
      const content = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string)));
      const written = isInBackground
        ? await withBackgroundFlushes((flush) => writeHashedFile(path, chunks, { flush }))
        : await writeHashedFile(path, chunks);
      expect((await readFile(path)).equals(content)).toBe(true);
      expect(written).toEqual({
        bytes: content.length,
        sha256: createHash("sha256").update(content).digest("hex"),
      });
      expect(await hashFile(path)).toEqual(written);
    }),
    { numRuns: 40 },
  );
});

it("an error of flushing in the background is thrown after all files are closed, and an error of writing comes first", async () => {
  await using folder = await temporaryFolder();
  const files: FileHandle[] = [];
  const openFile = async (name: string) => {
    const file = await open(join(folder.path, name), "wx");
    files.push(file);
    return file;
  };
  const flushTwo = (error: Error | null) =>
    withBackgroundFlushes(async (flush) => {
      // As the disk's own failure: the flush finds that the descriptor is gone.
      const lost = await openFile(`lost-${files.length}`);
      await lost.close();
      flush(lost);
      flush(await openFile(`good-${files.length}`));
      if (error !== null) throw error;
    });
  await expect(flushTwo(null)).rejects.toMatchObject({ code: "EBADF" });
  await expect(flushTwo(new Error("of writing"))).rejects.toThrow("of writing");
  expect(files.map(({ fd }) => fd)).toEqual([-1, -1, -1, -1]);
});
