/**
 * Encodes one column of a Parquet file. In: its cells, one by one; none is kept, so memory stays small. Out: a chunk for each row
 * group, with the page of a dictionary, if values are often equal, and one page of data.
 */
import { zstdCompressSync } from "node:zlib";
import type { ColumnChunk, Encoding, PageHeader, SchemaElement } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import type { Cell } from "../../../schema/fields.ts";
import { compareText } from "../../../src/platform/text/compare-text.ts";
import { escapeText, writePlain } from "../escaped-text.ts";
import type { FittedColumn, FittedType } from "../fitted-types.ts";
import { numberText } from "../json.ts";
import { BitList, ByteList } from "./value-lists.ts";

const schemaTypes = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  integer: { type: "INT64" },
  number: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" },
  time: { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" } },
  object: { type: "BYTE_ARRAY", converted_type: "JSON", logical_type: { type: "JSON" } },
  verbatim: { type: "BYTE_ARRAY", converted_type: "UTF8" },
} as const satisfies Readonly<Record<FittedType, Omit<SchemaElement, "name">>>;

export const schemaOf = ({ name, type }: FittedColumn): SchemaElement => ({
  name,
  ...schemaTypes[type],
  repetition_type: "OPTIONAL",
});

/** Twice as many take 10 MiB more memory, for files 4 % smaller. An index of a dictionary takes at most two bytes. */
export const maxGroupRows = 8_192;

/** Values of a row group, after which its dictionary is kept or given up. */
const judgedValues = 1_000;

export class ColumnEncoder {
  readonly #column: FittedColumn;
  readonly #hasBounds: boolean;
  /** All values, or those of the dictionary in the order of their indexes. */
  readonly #values = new ByteList();
  readonly #flags = new BitList();
  /** Null if values are seldom equal; it stays so to the end of the file. */
  #dictionary: Map<Cell, number> | null;
  /** Where each value of the dictionary begins. */
  readonly #starts = new Uint32Array(maxGroupRows);
  readonly #indexes = new Uint16Array(maxGroupRows);
  readonly #isPresent = new BitList();
  #count = 0;
  #min: Bound | undefined;
  #max: Bound | undefined;

  /** @param hasBounds whether chunks state their least and greatest value */
  constructor(column: FittedColumn, hasBounds: boolean) {
    this.#column = column;
    this.#hasBounds = hasBounds;
    // A map takes 0 and -0 for one number.
    this.#dictionary = column.type === "boolean" || column.type === "number" ? null : new Map();
  }

  /** @param cell fits the type @returns by how many bytes the chunk grew */
  add(cell: Cell): number {
    this.#isPresent.add(cell !== null);
    if (cell === null) return 0;
    const at = this.#count++;
    if (this.#dictionary === null) return this.#addValue(cell);
    const known = this.#dictionary.get(cell);
    const index = known ?? this.#dictionary.size;
    this.#indexes[at] = index;
    if (known !== undefined) return 0;
    this.#dictionary.set(cell, index);
    this.#starts[index] = this.#values.length;
    const growth = this.#addValue(cell);
    return this.#count > judgedValues ? growth + this.#judge() : growth;
  }

  #addValue(cell: NonNullable<Cell>): number {
    const before = this.#values.length;
    const value = toValue(cell, this.#column.type);
    if (typeof value === "string") this.#values.addText(value);
    else if (typeof value === "bigint") this.#values.addInteger(value);
    else if (typeof value === "number") this.#values.addDouble(value);
    else this.#flags.add(value);
    if (this.#hasBounds) {
      if (this.#max === undefined || compare(value, this.#max) > 0) this.#max = value;
      if (this.#min === undefined || compare(value, this.#min) < 0) this.#min = value;
    }
    return this.#values.length - before;
  }

  /** Gives up a dictionary with more than half as many values. @returns by how many bytes the chunk grew */
  #judge(): number {
    if (this.#dictionary === null || 2 * this.#dictionary.size <= this.#count) return 0;
    // A copy, since the list is filled again.
    const entries = Uint8Array.from(this.#values.take());
    this.#starts[this.#dictionary.size] = entries.length;
    for (const index of this.#indexes.subarray(0, this.#count))
      this.#values.add(entries.subarray(this.#starts[index], this.#starts[index + 1]));
    this.#dictionary = null;
    return this.#values.length - entries.length;
  }

  /**
   * Writes the chunk of all cells since the last one.
   * @param parts an empty list, to put pages together in
   */
  writeChunk(writer: ByteWriter, parts: ByteList): ColumnChunk {
    const { name, type } = this.#column;
    const rows = this.#isPresent.length;
    const begin = writer.offset;
    this.#judge();
    const entries = this.#dictionary?.size ?? 0;
    const values = this.#values.take();
    let bytes = 0;
    if (entries > 0)
      bytes += writePage(writer, values, {
        type: "DICTIONARY_PAGE",
        dictionary_page_header: { num_values: entries, encoding: "PLAIN" },
      });
    const dataAt = writer.offset;
    const encoding: Encoding = entries > 0 ? "RLE_DICTIONARY" : "PLAIN";
    const levels = runOf(this.#isPresent.take(), 1);
    const data = entries > 0 ? this.#indexPage(entries) : [type === "boolean" ? this.#flags.take() : values];
    for (const part of [lengthOf(levels), levels, ...data]) parts.add(part);
    bytes += writePage(writer, parts.take(), {
      type: "DATA_PAGE",
      data_page_header: {
        num_values: rows,
        encoding,
        definition_level_encoding: "RLE",
        repetition_level_encoding: "RLE",
      },
    });
    const chunk: ColumnChunk = {
      file_offset: BigInt(begin),
      meta_data: {
        type: schemaTypes[type].type,
        encodings: ["PLAIN", "RLE", ...(entries > 0 ? [encoding] : [])],
        path_in_schema: [name],
        codec: "ZSTD",
        num_values: BigInt(rows),
        total_uncompressed_size: BigInt(bytes),
        total_compressed_size: BigInt(writer.offset - begin),
        data_page_offset: BigInt(dataAt),
        ...(entries > 0 && { dictionary_page_offset: BigInt(begin) }),
        statistics: { null_count: BigInt(rows - this.#count), ...this.#bounds() },
      },
    };
    this.#dictionary?.clear();
    this.#count = 0;
    this.#min = this.#max = undefined;
    return chunk;
  }

  /** Whole bytes for each index, although fewer bits would do: Zstandard finds repetitions in them, and nothing needs packing. */
  #indexPage(entries: number): Uint8Array[] {
    const indexes = this.#indexes.slice(0, this.#count);
    const bytes = entries <= 256 ? new Uint8Array(indexes) : new Uint8Array(indexes.buffer);
    const bits = entries <= 256 ? 8 : 16;
    return [Uint8Array.of(bits), runOf(bytes, bits)];
  }

  /** Of zeros, the least is the negative one, and the greatest the positive one. */
  #bounds() {
    if (this.#min === undefined || this.#max === undefined) return {};
    return { min_value: this.#min === 0 ? -0 : this.#min, max_value: this.#max === 0 ? 0 : this.#max };
  }
}

type Bound = string | bigint | number | boolean;

function toValue(cell: NonNullable<Cell>, type: FittedType): Bound {
  switch (type) {
    case "text":
      return typeof cell === "string" ? escapeText(cell) : numberText(cell);
    case "integer":
      return BigInt(cell);
    case "number":
      return Number(cell);
    case "boolean":
      return Number(cell) === 1;
    case "time":
      return BigInt(Date.parse(String(cell)));
    case "object":
      return escapeText(String(cell));
    case "verbatim":
      return typeof cell === "string" ? writePlain(cell) : numberText(cell);
  }
}

function compare(a: Bound, b: Bound): number {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * A run of packed values, as its header counts them: in groups of eight. Zeros fill the last one.
 * @param bits of one value
 */
function runOf(packed: Uint8Array, bits: number): Uint8Array {
  const groups = Math.ceil(packed.length / bits);
  const header = new ByteWriter();
  header.appendVarInt((groups << 1) | 1);
  return Buffer.concat([header.getBytes(), packed], header.offset + groups * bits);
}

function lengthOf(bytes: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return length;
}

/** @returns the number of its bytes if it were not compressed */
function writePage(
  writer: ByteWriter,
  page: Uint8Array,
  header: Omit<PageHeader, "uncompressed_page_size" | "compressed_page_size">,
): number {
  const compressed = zstdCompressSync(page);
  const begin = writer.offset;
  writePageHeader(writer, {
    ...header,
    uncompressed_page_size: page.length,
    compressed_page_size: compressed.length,
  });
  const headerBytes = writer.offset - begin;
  writer.appendBytes(compressed);
  return headerBytes + page.length;
}
