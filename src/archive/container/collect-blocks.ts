/** Collects bodies into blocks of about 1 MiB, each with its index. */
import { partBytes } from "./row-parts.ts";

export interface Block {
  readonly index: Buffer;
  readonly content: Buffer;
}

export interface BlockCollector {
  /**
   * @param line of the index, with its SHA-256, up to the place of the body
   * @returns the block before this body, if that is full
   */
  add(line: Uint8Array | string, body: Uint8Array): Block | null;
  /** @returns the last block; null without bodies */
  end(): Block | null;
}

/** After each body. */
export const lineFeed = Buffer.from("\n");

export function collectBlocks(): BlockCollector {
  const index = growingBytes(partBytes / 2);
  // With room for the body that ends the block.
  const content = growingBytes(partBytes + 2 ** 16);
  const end = () => (content.length() === 0 ? null : { index: index.take(), content: content.take() });
  return {
    add(line, body) {
      const full = content.length() >= partBytes ? end() : null;
      if (typeof line === "string") index.addText(line);
      else index.add(line);
      index.addText(`","offset":${content.length()},"length":${body.length}}\n`);
      content.add(body);
      content.add(lineFeed);
      return full;
    },
    end,
  };
}

/** Of UTF-8, for a unit of UTF-16. */
const maxBytesPerUnit = 3;

/** Collects bytes in one buffer: thousands of small ones at a time would take several times their size. */
function growingBytes(firstBytes: number) {
  let bytes = Buffer.alloc(0);
  let length = 0;
  const makeRoom = (count: number): void => {
    if (length + count <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * bytes.length, length + count, firstBytes));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  };
  return {
    length: () => length,
    add(more: Uint8Array): void {
      makeRoom(more.length);
      bytes.set(more, length);
      length += more.length;
    },
    addText(text: string): void {
      makeRoom(maxBytesPerUnit * text.length);
      length += bytes.write(text, length);
    },
    take(): Buffer {
      const taken = bytes.subarray(0, length);
      [bytes, length] = [Buffer.alloc(0), 0];
      return taken;
    },
  };
}
