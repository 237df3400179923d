/** An independent writer of ZIP files in which every header field can be forged. */
import { crc32 } from "node:zlib";

/** The fields of a header, and the parts after it. */
export interface Fields {
  readonly version?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly time?: number;
  readonly date?: number;
  readonly crc?: number;
  readonly packed?: number;
  readonly size?: number;
  readonly nameBytes?: number;
  readonly extra?: Buffer;
  readonly name?: string;
}

export interface CentralFields extends Fields {
  readonly madeBy?: number;
  readonly comment?: Buffer;
  readonly disk?: number;
  readonly internal?: number;
  readonly external?: number;
  readonly offset?: number;
}

export interface ForgedEntry {
  readonly name: string;
  readonly content: Buffer;
  /** In both headers. */
  readonly both?: Fields;
  readonly local?: Fields;
  readonly central?: CentralFields | null;
  /** Before the local header, and after the content. */
  readonly before?: Buffer;
  readonly after?: Buffer;
  /** In place of the local header and the content. */
  readonly isOnlyListed?: boolean;
}

export interface ForgedEnd {
  readonly entries?: number;
  readonly bytes?: number;
  readonly offset?: number;
  readonly comment?: Buffer;
  readonly before?: Buffer;
  readonly after?: Buffer;
  readonly disk?: number;
}

export function forgeZip(entries: readonly ForgedEntry[], end: ForgedEnd = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const push = (part: Buffer) => {
    parts.push(part);
    offset += part.length;
  };
  for (const entry of entries) {
    const { name, content, both = {}, local = {}, central = {}, before, after, isOnlyListed } = entry;
    if (before) push(before);
    const at = offset;
    if (!isOnlyListed) {
      push(
        Buffer.concat([
          u32(0x04034b50),
          common(name, content, { ...both, ...local }),
          tail({ name, ...both, ...local }),
        ]),
      );
      push(content);
    }
    if (after) push(after);
    if (central !== null) directory.push(centralOf(name, content, { ...both, ...central }, at));
  }
  const lines = Buffer.concat(directory);
  const { comment = Buffer.alloc(0), disk = 0 } = end;
  const count = end.entries ?? directory.length;
  return Buffer.concat([
    ...parts,
    lines,
    end.before ?? Buffer.alloc(0),
    ...[u32(0x06054b50), u16(disk), u16(disk), u16(count), u16(count)],
    ...[u32(end.bytes ?? lines.length), u32(end.offset ?? offset), u16(comment.length), comment],
    end.after ?? Buffer.alloc(0),
  ]);
}

function centralOf(name: string, content: Buffer, fields: CentralFields, at: number): Buffer {
  const { madeBy = (3 << 8) | 20, comment = Buffer.alloc(0), disk = 0, internal = 0 } = fields;
  const { external = (0o100600 << 16) >>> 0, offset = at } = fields;
  return Buffer.concat([
    ...[u32(0x02014b50), u16(madeBy), common(name, content, fields), u16(comment.length), u16(disk)],
    ...[u16(internal), u32(external), u32(offset), tail({ name, ...fields }), comment],
  ]);
}

function common(name: string, content: Buffer, fields: Fields): Buffer {
  const { version = 20, flags = 0, method = 0, time = 0, date = 0x21, extra = Buffer.alloc(0) } = fields;
  const { crc = crc32(content), packed = content.length, size = content.length } = fields;
  const nameBytes = fields.nameBytes ?? Buffer.from(fields.name ?? name, "latin1").length;
  return Buffer.concat([
    ...[u16(version), u16(flags), u16(method), u16(time), u16(date), u32(crc)],
    ...[u32(packed), u32(size), u16(nameBytes), u16(extra.length)],
  ]);
}

const tail = ({ name = "", extra = Buffer.alloc(0) }: Fields) =>
  Buffer.concat([Buffer.from(name, "latin1"), extra]);

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
