/**
 * Bodies in blocks of about 1 MiB, since neighbours that are alike compress well together. A block has the bodies as they were
 * sent, each followed by a line feed. Before it comes its index: a line for each body, with its SHA-256, offset and length.
 */
import { hash } from "node:crypto";
import type { BookkeepingRow } from "../../mirror/bookkeeping/rows.ts";
import { type BodyFolder, blockEntry, blockIndexEntry } from "../contents/entry-names.ts";
import { type Block, collectBlocks, lineFeed } from "./collect-blocks.ts";
import { parseRows } from "./row-parts.ts";
import { ZipError } from "./zip-reader.ts";
import type { WholeEntry } from "./zip-writer.ts";

export interface NewBody {
  readonly sha256: string;
  /** Read before the next one. */
  readonly body: Uint8Array;
  /** Further cells of its line in the index: members of a JSON object, each followed by a comma. */
  readonly about?: string;
}

/** Pairs of entries, an index and its block; none without bodies. */
export function* blockEntries(folder: BodyFolder, bodies: Iterable<NewBody>): Generator<WholeEntry> {
  const collector = collectBlocks();
  const entriesOf = nameBlocks(folder);
  for (const { sha256, body, about = "" } of bodies)
    yield* entriesOf(collector.add(`{${about}"sha256":"${sha256}`, body));
  yield* entriesOf(collector.end());
}

/** @returns gives each block, in order, its names; no entries for no block */
export function nameBlocks(folder: BodyFolder): (block: Block | null) => WholeEntry[] {
  let count = 0;
  return (block) => {
    if (block === null) return [];
    count++;
    return [
      { name: blockIndexEntry(folder, count), content: block.index },
      { name: blockEntry(folder, count), content: block.content },
    ];
  };
}

export interface ReadBody {
  readonly sha256: string;
  readonly body: Buffer;
  /** Its line in the index. */
  readonly line: BookkeepingRow;
}

export interface BlockReader {
  /** Reads an index, then its block, whose bodies it returns. @throws ZipError */
  read(name: string, content: Buffer): readonly ReadBody[];
  /** @throws ZipError if a block is missing */
  finish(): void;
}

export function blockReader(folder: BodyFolder): BlockReader {
  let block = 1;
  let index: Buffer | null = null;
  return {
    read(name, content) {
      const expected = index === null ? blockIndexEntry(folder, block) : blockEntry(folder, block);
      if (name !== expected) throw new ZipError(expected, "is missing");
      if (index === null) {
        index = content;
        return [];
      }
      const bodies = bodiesOf(blockIndexEntry(folder, block), index, name, content);
      [block, index] = [block + 1, null];
      return bodies;
    },
    finish() {
      if (index !== null) throw new ZipError(blockEntry(folder, block), "is missing");
    },
  };
}

/** @throws ZipError unless the lines name every byte of the block, in order */
function bodiesOf(indexName: string, index: Buffer, blockName: string, block: Buffer): ReadBody[] {
  const bodies: ReadBody[] = [];
  let next = 0;
  const refuse = (line: number): never => {
    throw new ZipError(indexName, `its line ${line} is none of an index`);
  };
  for (const line of parseRows(index, refuse)) {
    const { sha256, offset, length } = line;
    if (typeof sha256 !== "string" || offset !== next || typeof length !== "number" || length < 0)
      return refuse(bodies.length + 1);
    const body = block.subarray(next, next + length);
    next += length + lineFeed.length;
    if (body.length !== length || block[next - 1] !== lineFeed[0])
      throw new ZipError(blockName, `is not made of the bodies that ${indexName} lists`);
    if (hash("sha256", body) !== sha256)
      throw new ZipError(blockName, `its body ${bodies.length + 1} does not have its SHA-256`);
    bodies.push({ sha256, body, line });
  }
  if (next === block.length && bodies.length > 0) return bodies;
  throw new ZipError(blockName, `is not made of the bodies that ${indexName} lists`);
}
