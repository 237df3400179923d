/**
 * Makes blocks of stored bodies. In: records, as `shared-bodies.ts` selects them. Out: blocks of an archive. It runs in a thread
 * of its own beside the reading, or in this one.
 */
import { decodeProvenBody } from "../../../mirror/bodies/compression.ts";
import { DamagedBodyError } from "../../../mirror/file/errors.ts";
import { type Block, collectBlocks } from "../../container/collect-blocks.ts";

/** Several bodies, in any order. */
export interface BodyRecords {
  readonly count: number;
  /** A line of UTF-8 for each: what `recordSql` says. */
  readonly lines: Uint8Array;
}

interface Columns {
  readonly number: string;
  readonly codec: string;
  readonly size: string;
  readonly dictionaryId: string;
  readonly stored: string;
  readonly sha256: string;
  /** Further cells of its line in the index: members of a JSON object, each followed by a comma. */
  readonly about: string;
}

/**
 * SQL for the line of a body: what it takes to decompress it, its stored form in hexadecimal, and its line of the index up to its
 * place. Only there may be characters beside ASCII; in JSON, control characters are escaped.
 */
export const recordSql = (of: Columns): string =>
  [
    ...[of.number, of.codec, of.size, `coalesce(${of.dictionaryId}, '')`, `(2 * length(${of.stored}))`],
    `hex(${of.stored}) || '{' || ${of.about} || '"sha256":"' || ${of.sha256}`,
  ].join(" || ' ' || ");

/** Of the cells before the stored form. */
const maxHeadBytes = 100;
const sha256Bytes = 64;

export interface BlockMaker {
  /** @returns the blocks that are full now @throws DamagedBodyError */
  add(records: BodyRecords): Block[];
  end(): Block | null;
}

export type Dictionaries = ReadonlyMap<number, Uint8Array>;

export function createBlockMaker(dictionaries: Dictionaries): BlockMaker {
  const collector = collectBlocks();
  const dictionaryOf = (id: number): Uint8Array | null => {
    if (id === 0) return null;
    const dictionary = dictionaries.get(id);
    if (dictionary === undefined) throw new DamagedBodyError(`its dictionary ${id} is missing`);
    return dictionary;
  };
  const addRecord = ({ codec, size, dictionaryId, hex, line }: BodyRecord) => {
    const sha256 = line.toString("latin1", line.length - sha256Bytes);
    const body = decodeProvenBody(
      { codec, size, body: Buffer.from(hex, "hex") },
      dictionaryOf(dictionaryId),
      sha256,
    );
    return collector.add(line, body);
  };
  return {
    add({ count, lines }) {
      const records = parseRecords(Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength));
      // A row without a value that each must have gives no line.
      if (records.length !== count) throw new DamagedBodyError(damagedRow);
      records.sort((a, b) => a.number - b.number);
      return records.map(addRecord).filter((block) => block !== null);
    },
    end: () => collector.end(),
  };
}

interface BodyRecord {
  readonly number: number;
  readonly codec: string;
  readonly size: number;
  /** 0 for none. */
  readonly dictionaryId: number;
  readonly hex: string;
  /** Of the index, up to the place of the body. */
  readonly line: Buffer;
}

/** Most of a record stays bytes: as texts, they would take several times as long. */
function parseRecords(bytes: Buffer): BodyRecord[] {
  const records: BodyRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [number = "", codec = "", size = "", dictionaryId = "", hexBytes = ""] = bytes
      .toString("latin1", at, at + maxHeadBytes)
      .split(" ", 5);
    const start = at + number.length + codec.length + size.length + dictionaryId.length + hexBytes.length + 5;
    const startOfLine = start + Number(hexBytes);
    if (!(startOfLine > at)) throw new DamagedBodyError(damagedRow);
    const found = bytes.indexOf(lineFeed, startOfLine);
    const end = found === -1 ? bytes.length : found;
    records.push({
      ...{ number: Number(number), codec, size: Number(size), dictionaryId: Number(dictionaryId) },
      ...{ hex: bytes.toString("latin1", start, startOfLine), line: bytes.subarray(startOfLine, end) },
    });
    at = end + 1;
  }
  return records;
}

const lineFeed = 10;
const damagedRow = "a row of it is damaged";
