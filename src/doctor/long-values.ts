/**
 * The values that SQLite keeps on several pages, each in one piece: a text across the end of a page is not found in the plain
 * bytes of a file. In: a database, or the write-ahead log (-wal) of one. It is read as bytes, so that SQLite takes no lock and makes
 * no file beside it. https://sqlite.org/fileformat2.html, sections 1.3, 1.5, 1.6 and 4.1
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

interface PagedFile {
  /** Bytes of a page, without those at its end that SQLite leaves to others. */
  readonly usableSize: number;
  readonly pageCount: number;
  /** The number and the offset of each page, in the order of the file. */
  pages(): Iterable<readonly [number: number, offset: number]>;
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
const logHeaderBytes = 32;
const frameHeaderBytes = 24;
/** A value belongs to one cell, and a log may have several states of a cell. A forged file could have any number. */
const maxReadsPerPage = 8;

/**
 * @returns pieces of each value, and a NUL after it; nothing for another file. Cells of another form are left out
 * @throws a system error
 */
export function* readLongValues(path: string | Buffer): Generator<Buffer> {
  const handle = openSync(path, "r");
  try {
    const read: Read = (offset, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(handle, bytes, 0, length, offset));
    };
    const file = readDatabase(read, fstatSync(handle).size) ?? readLog(read, fstatSync(handle).size);
    if (file === null) return;
    let readsLeft = file.pageCount * maxReadsPerPage;
    for (const [number, offset] of file.pages()) {
      const header = number === 1 ? databaseHeaderBytes : 0;
      for (const { start, nextPage, restBytes } of longCells(read(offset, file.usableSize), header)) {
        yield start;
        let next = nextPage;
        for (let left = restBytes; left > 0 && readsLeft > 0; readsLeft--) {
          const place = file.offsetOf(next);
          if (place === undefined) break;
          const page = read(place, file.usableSize);
          if (page.length < file.usableSize) break;
          yield page.subarray(4, 4 + left);
          next = page.readUInt32BE(0);
          left -= file.usableSize - 4;
        }
        yield Buffer.alloc(1);
      }
    }
  } finally {
    closeSync(handle);
  }
}

const isPageSize = (bytes: number): boolean =>
  bytes >= 512 && bytes <= 65_536 && Number.isInteger(Math.log2(bytes));

function readDatabase(read: Read, size: number): PagedFile | null {
  const header = read(0, databaseHeaderBytes);
  if (header.toString("latin1", 0, 16) !== "SQLite format 3\0" || header.length < databaseHeaderBytes)
    return null;
  const stated = header.readUInt16BE(16);
  const pageSize = stated === 1 ? 65_536 : stated;
  if (!isPageSize(pageSize)) return null;
  const pageCount = Math.floor(size / pageSize);
  return {
    ...{ pageCount, usableSize: pageSize - header.readUInt8(20) },
    *pages() {
      for (let n = 0; n < pageCount; n++) yield [n + 1, n * pageSize];
    },
    offsetOf: (page) => (page >= 1 && page <= pageCount ? (page - 1) * pageSize : undefined),
  };
}

/** Each frame has a page; later ones replace earlier ones. */
function readLog(read: Read, size: number): PagedFile | null {
  const header = read(0, logHeaderBytes);
  if (header.length < logHeaderBytes || !/^377f068[23]/.test(header.toString("hex"))) return null;
  const pageSize = header.readUInt32BE(8);
  if (!isPageSize(pageSize)) return null;
  const frameBytes = frameHeaderBytes + pageSize;
  const pages = Array.from({ length: Math.floor((size - logHeaderBytes) / frameBytes) }, (_, n) => {
    const offset = logHeaderBytes + n * frameBytes;
    return [read(offset, 4).readUInt32BE(0), offset + frameHeaderBytes] as const;
  });
  const latest = new Map(pages);
  return {
    ...{ pageCount: pages.length, usableSize: pageSize },
    pages: () => pages,
    offsetOf: (page) => latest.get(page),
  };
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
  const count = page.readUInt16BE(offset + 3);
  return Array.from({ length: count }, (_, n) => {
    const pointer = offset + type.header + 2 * n;
    return pointer + 2 > page.length
      ? null
      : longCell(page, page.readUInt16BE(pointer) + type.before, type.hasRowId);
  }).filter((cell) => cell !== null);
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
