/**
 * The one form of ZIP (PKWARE's APPNOTE 6.3.3) that an archive has: stored or deflated entries, regular files with mode 0600, no
 * times, no flags, no comments. The writer writes these headers; the reader compares every header with them, byte for byte. A
 * deflated entry has one extra field of ours: the CRC-32 of its compressed bytes. Without it, a damaged bit of deflate's padding
 * would go unnoticed.
 */

/** The compressed bytes of a deflated entry. */
export interface PackedBytes {
  readonly size: number;
  readonly crc32: number;
}

export interface ZipEntry {
  /** ASCII, with `/` between folder and file. */
  readonly name: string;
  readonly size: number;
  readonly crc32: number;
  /** Null if the content is stored. */
  readonly packed: PackedBytes | null;
}

/** The length of each header, without the name and the extra field that follow it. */
export const zipBytes = { local: 30, central: 46, largeEnd: 56, largeEndLocator: 20, end: 22 } as const;
/** The limit for writing and reading: each entry is in memory as a whole. */
export const maxEntryBytes = 2 ** 30;
/** Offsets in the file have 32 bits. */
export const maxZipBytes = 0xffff_ffff;
/** Of all entries together, decompressed. */
export const maxContentBytes = 2 ** 35;
export const maxEntries = 1_000_000;
/** Rows of a mirror reach 40; deflate's own limit, 1030, serves only bombs. */
const maxRatio = 200;

/** Whether an entry of these sizes may be deflated. Others are stored, so no archive that was written is refused as a bomb. */
export const mayBePacked = (size: number, packedSize: number): boolean =>
  packedSize < size && size <= maxRatio * packedSize;

/** With more entries, the 16-bit count is not enough, and a ZIP64 end comes before the plain one. */
const maxPlainEntries = 0xfffe;
/** Unix; APPNOTE 2.0. */
const madeBy = (3 << 8) | 20;
const neededVersion = 20;
const neededVersionOfLargeEnd = 45;
const deflated = 8;
/** 1980-01-01, the earliest date of the format. */
const noDate = 0x0021;
/** A regular file with mode 0600. */
const fileAttributes = (0o100600 << 16) >>> 0;
/** Registered by no other program. */
const packedFieldId = 0x7241;
const packedFieldBytes = 8;

/** The first four bytes of each header, as a little-endian number. */
export const zipSignatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  largeEnd: 0x06064b50,
  largeEndLocator: 0x07064b50,
  end: 0x06054b50,
} as const;

/** The header before an entry's content, with the name and the extra field. */
export function localHeader(entry: ZipEntry): Buffer {
  const fields = Buffer.alloc(zipBytes.local);
  fields.writeUInt32LE(zipSignatures.local, 0);
  writeCommonFields(fields, 4, entry);
  return Buffer.concat([fields, nameAndExtra(entry)]);
}

export interface LocalFields {
  readonly size: number;
  readonly crc32: number;
  readonly isPacked: boolean;
  /** How many bytes of content follow in the file. */
  readonly contentBytes: number;
  readonly nameBytes: number;
  /** Of the extra field that an entry of this method has. */
  readonly extraBytes: number;
}

/** Reads the fields of a local header; null if it is none. */
export function readLocalHeader(fields: Buffer): LocalFields | null {
  if (fields.length < zipBytes.local || fields.readUInt32LE(0) !== zipSignatures.local) return null;
  const isPacked = fields.readUInt16LE(8) === deflated;
  return {
    crc32: fields.readUInt32LE(14),
    size: fields.readUInt32LE(22),
    isPacked,
    contentBytes: fields.readUInt32LE(isPacked ? 18 : 22),
    nameBytes: fields.readUInt16LE(26),
    extraBytes: isPacked ? packedFieldBytes : 0,
  };
}

/** The CRC-32 in the extra field of a deflated entry. */
export const readPackedCrc = (extra: Buffer): number => (extra.length < 8 ? 0 : extra.readUInt32LE(4));

/** The entry's header in the central directory. @param offset of the entry's local header */
export function centralHeader(entry: ZipEntry, offset: number): Buffer {
  const fields = Buffer.alloc(zipBytes.central);
  fields.writeUInt32LE(zipSignatures.central, 0);
  fields.writeUInt16LE(madeBy, 4);
  writeCommonFields(fields, 6, entry);
  fields.writeUInt32LE(fileAttributes, 38);
  fields.writeUInt32LE(offset, 42);
  return Buffer.concat([fields, nameAndExtra(entry)]);
}

/** The end of the file, after the central directory. */
export function endOfZip(directory: { entries: number; offset: number; bytes: number }): Buffer {
  const { entries, offset, bytes } = directory;
  const end = Buffer.alloc(zipBytes.end);
  end.writeUInt32LE(zipSignatures.end, 0);
  const isLarge = entries > maxPlainEntries;
  const counted = isLarge ? 0xffff : entries;
  end.writeUInt16LE(counted, 8);
  end.writeUInt16LE(counted, 10);
  end.writeUInt32LE(bytes, 12);
  end.writeUInt32LE(offset, 16);
  return isLarge ? Buffer.concat([largeEnd(directory), end]) : end;
}

function largeEnd({ entries, offset, bytes }: { entries: number; offset: number; bytes: number }): Buffer {
  const fields = Buffer.alloc(zipBytes.largeEnd + zipBytes.largeEndLocator);
  fields.writeUInt32LE(zipSignatures.largeEnd, 0);
  fields.writeBigUInt64LE(44n, 4);
  fields.writeUInt16LE(madeBy, 12);
  fields.writeUInt16LE(neededVersionOfLargeEnd, 14);
  fields.writeBigUInt64LE(BigInt(entries), 24);
  fields.writeBigUInt64LE(BigInt(entries), 32);
  fields.writeBigUInt64LE(BigInt(bytes), 40);
  fields.writeBigUInt64LE(BigInt(offset), 48);
  fields.writeUInt32LE(zipSignatures.largeEndLocator, zipBytes.largeEnd);
  fields.writeBigUInt64LE(BigInt(offset + bytes), 64);
  fields.writeUInt32LE(1, 72);
  return fields;
}

/** Both headers have these fields, from the version on. All others are zero. */
function writeCommonFields(fields: Buffer, at: number, { name, size, crc32, packed }: ZipEntry): void {
  fields.writeUInt16LE(neededVersion, at);
  fields.writeUInt16LE(packed === null ? 0 : deflated, at + 4);
  fields.writeUInt16LE(noDate, at + 8);
  fields.writeUInt32LE(crc32, at + 10);
  fields.writeUInt32LE(packed?.size ?? size, at + 14);
  fields.writeUInt32LE(size, at + 18);
  fields.writeUInt16LE(Buffer.byteLength(name, "latin1"), at + 22);
  fields.writeUInt16LE(packed === null ? 0 : packedFieldBytes, at + 24);
}

function nameAndExtra({ name, packed }: ZipEntry): Buffer {
  const nameBytes = Buffer.from(name, "latin1");
  if (packed === null) return nameBytes;
  const extra = Buffer.alloc(packedFieldBytes);
  extra.writeUInt16LE(packedFieldId, 0);
  extra.writeUInt16LE(packedFieldBytes - 4, 2);
  extra.writeUInt32LE(packed.crc32, 4);
  return Buffer.concat([nameBytes, extra]);
}
