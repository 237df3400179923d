/**
 * The values that SQLite keeps on several pages, each in one piece: a text across the end of a page is not found in the plain
 * bytes of a file. In: a database, or the write-ahead log (-wal) of one. It is read as bytes, so that SQLite takes no lock and makes
 * no file beside it. https://sqlite.org/fileformat2.html, sections 1.3, 1.5, 1.6 and 4.1
 */
import { hash } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import { openRegularFile } from "../platform/files/regular-files.ts";
import { UnreadableContentError } from "./encoded-contents.ts";

/** The pages of a database, or of one generation of a log. */
interface Pages {
  /** Bytes of a page, without the reserved ones at its end. */
  readonly usableSize: number;
  readonly count: number;
  /** The number and the offset of each page, in the order of the file. */
  all(): Iterable<readonly [number: number, offset: number]>;
  offsetOf(page: number): number | undefined;
}

/** The part of a value that is in its cell, and the first of the pages with the rest. */
interface LongCell {
  readonly start: Buffer;
  readonly nextPage: number;
  readonly restBytes: number;
}

type Read = (offset: number, length: number) => Buffer;

const databaseHeaderBytes = 100;
/** In the header of a database: how many bytes of each page are reserved. */
const reservedAt = 20;
const logHeaderBytes = 32;
const frameHeaderBytes = 24;
/** In a database, a page belongs to one value; in a log, to those that had it one after the other. A forged file may share it more. */
const maxReadsPerPage = 8;

/**
 * @returns pieces of each value, with a NUL before each value; nothing for another file. Cells of another form are left out
 * @throws UnreadableContentError for values that share their pages; FileError; a system error
 */
export function* readLongValues(path: string | Buffer): Generator<Buffer> {
  const handle = openRegularFile(path);
  try {
    const read: Read = (offset, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(handle, bytes, 0, length, offset));
    };
    const { size } = fstatSync(handle);
    const database = readDatabase(read, size);
    for (const pages of database === null ? readLog(read, size) : [database]) yield* valuesIn(pages, read);
  } finally {
    closeSync(handle);
  }
}

function* valuesIn(pages: Pages, read: Read): Generator<Buffer> {
  const { usableSize, count } = pages;
  // A log has a page again for each change of it, with the same values.
  const seen = new Set<string>();
  let readsLeft = count * maxReadsPerPage;
  for (const [number, offset] of pages.all()) {
    const header = number === 1 ? databaseHeaderBytes : 0;
    for (const { start, nextPage, restBytes } of longCells(read(offset, usableSize), header)) {
      const identity = `${nextPage} ${restBytes} ${hash("sha256", start)}`;
      if (seen.has(identity)) continue;
      seen.add(identity);
      yield Buffer.alloc(1);
      yield start;
      let next = nextPage;
      for (let left = restBytes; left > 0; left -= usableSize - 4) {
        const place = pages.offsetOf(next);
        const page = place === undefined ? null : read(place, usableSize);
        if (page === null || page.length < usableSize) break;
        if (readsLeft-- === 0)
          throw new UnreadableContentError("format", "more of its values share pages than are searched");
        yield page.subarray(4, 4 + left);
        next = page.readUInt32BE(0);
      }
    }
  }
}

const isPageSize = (bytes: number): boolean =>
  bytes >= 512 && bytes <= 65_536 && Number.isInteger(Math.log2(bytes));

function readDatabase(read: Read, size: number): Pages | null {
  const header = read(0, databaseHeaderBytes);
  if (header.toString("latin1", 0, 16) !== "SQLite format 3\0" || header.length < databaseHeaderBytes)
    return null;
  const stated = header.readUInt16BE(16);
  const pageSize = stated === 1 ? 65_536 : stated;
  if (!isPageSize(pageSize)) return null;
  const count = Math.floor(size / pageSize);
  return {
    ...{ count, usableSize: pageSize - header.readUInt8(reservedAt) },
    *all() {
      for (let n = 0; n < count; n++) yield [n + 1, n * pageSize];
    },
    offsetOf: (page) => (page >= 1 && page <= count ? (page - 1) * pageSize : undefined),
  };
}

/** Each frame has a page. After a checkpoint, the log begins again with other salts, before the rest of the former frames. */
function readLog(read: Read, size: number): Pages[] {
  const header = read(0, logHeaderBytes);
  if (header.length < logHeaderBytes || !/^377f068[23]/.test(header.toString("hex"))) return [];
  const pageSize = header.readUInt32BE(8);
  if (!isPageSize(pageSize)) return [];
  const frameBytes = frameHeaderBytes + pageSize;
  const frames = Array.from({ length: Math.floor((size - logHeaderBytes) / frameBytes) }, (_, n) => {
    const offset = logHeaderBytes + n * frameBytes;
    const frame = read(offset, frameHeaderBytes);
    return {
      page: [frame.readUInt32BE(0), offset + frameHeaderBytes] as const,
      salts: frame.toString("hex", 8, 16),
    };
  });
  return [...Map.groupBy(frames, ({ salts }) => salts).values()].map((generation) => {
    const pages = generation.map(({ page }) => page);
    const latest = new Map(pages);
    const first = latest.get(1);
    const reserved = first === undefined ? 0 : read(first + reservedAt, 1).readUInt8(0);
    return {
      ...{ count: pages.length, usableSize: pageSize - reserved },
      all: () => pages,
      offsetOf: (page) => latest.get(page),
    };
  });
}

/** By the type of a page, which is its first byte: the bytes of its header, of a cell before the length, and whether a row ID follows. */
const pageTypes: Readonly<Record<number, { header: number; before: number; hasRowId: boolean }>> = {
  2: { header: 12, before: 4, hasRowId: false },
  10: { header: 8, before: 0, hasRowId: false },
  13: { header: 8, before: 0, hasRowId: true },
};

function longCells(page: Buffer, offset: number): LongCell[] {
  const type = pageTypes[page[offset] ?? 0];
  if (type === undefined || page.length < offset + type.header) return [];
  const cells: LongCell[] = [];
  // Cells do not overlap, unless the file is forged.
  let bytesLeft = page.length;
  for (let n = 0, count = page.readUInt16BE(offset + 3); n < count && bytesLeft > 0; n++) {
    const pointer = offset + type.header + 2 * n;
    if (pointer + 2 > page.length) break;
    const cell = longCell(page, page.readUInt16BE(pointer) + type.before, type.hasRowId);
    if (cell === null) continue;
    bytesLeft -= cell.start.length;
    cells.push(cell);
  }
  return cells;
}

/** @returns null for a cell with all of its value */
function longCell(page: Buffer, offset: number, hasRowId: boolean): LongCell | null {
  const [length, afterLength] = readVarint(page, offset);
  const start = hasRowId ? readVarint(page, afterLength)[1] : afterLength;
  const usable = page.length;
  const maxLocal = hasRowId ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (length <= maxLocal) return null;
  const minLocal = Math.floor(((usable - 12) * 32) / 255) - 23;
  const wanted = minLocal + ((length - minLocal) % (usable - 4));
  const local = wanted <= maxLocal ? wanted : minLocal;
  if (start + local + 4 > usable) return null;
  return {
    start: page.subarray(start, start + local),
    nextPage: page.readUInt32BE(start + local),
    restBytes: length - local,
  };
}

/** @returns the number, and where it ends */
function readVarint(bytes: Buffer, offset: number): [value: number, end: number] {
  let value = 0;
  for (let n = 0; n < 8; n++) {
    const byte = bytes[offset + n] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, offset + n + 1];
  }
  return [value * 256 + (bytes[offset + 8] ?? 0), offset + 9];
}
