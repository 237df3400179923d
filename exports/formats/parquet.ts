/** Tables as Parquet: typed columns, compressed with Zstandard, in row groups of bounded size. */
import { zstdCompressSync } from "node:zlib";
import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { Cell } from "../../schema/fields.ts";
import { toCsvText } from "./csv.ts";
import type { FittedColumn, FittedType } from "./fitted-types.ts";
import { numberText } from "./json.ts";
import type { ExportTable, Row } from "./table.ts";

/** The bytes of a file. Text is as in CSV of the profile `exact`; a JSON column holds the text of the mirror. */
export function* parquetChunks(table: ExportTable, columns: readonly FittedColumn[]): Generator<Uint8Array> {
  const writer = new ByteWriter();
  const schema: SchemaElement[] = [{ name: "root", num_children: columns.length }, ...columns.map(schemaOf)];
  const parquet = new ParquetWriter({
    writer,
    schema,
    codec: "ZSTD",
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: "armoire",
  });
  const takeBytes = () => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  const write = ({ columnData, rowCount }: RowGroup): Uint8Array => {
    // Returns nothing: a `ByteWriter` is not asynchronous.
    parquet.write({ columnData, rowGroupSize: rowCount });
    return takeBytes();
  };
  let group = new RowGroup(columns);
  for (const row of table.rows()) {
    group.add(row);
    if (!group.isFull) continue;
    yield write(group);
    group = new RowGroup(columns);
  }
  if (group.rowCount > 0) yield write(group);
  // Readers look for it. While values are written, it would make the library write each text as a JSON string.
  for (const element of schema) if (element.logical_type?.type === "JSON") element.converted_type = "JSON";
  parquet.finish();
  yield takeBytes();
}

const schemaTypes: Readonly<Record<FittedType, Omit<SchemaElement, "name">>> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  integer: { type: "INT64" },
  number: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" },
  time: { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" } },
  object: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
};

const schemaOf = ({ name, type }: FittedColumn): SchemaElement => ({
  name,
  ...schemaTypes[type],
  repetition_type: "OPTIONAL",
});

function toValue(cell: Cell, type: FittedType): unknown {
  if (cell === null) return null;
  switch (type) {
    case "text":
      return typeof cell === "string" ? toCsvText(cell, "exact") : numberText(cell);
    case "integer":
      return BigInt(cell);
    case "number":
      return Number(cell);
    case "boolean":
      return Number(cell) === 1;
    case "time":
      return BigInt(Date.parse(String(cell)));
    case "object":
      return String(cell);
  }
}

/** Larger groups compress little better, and take more memory. */
const maxGroupRows = 5_000;
const maxGroupCharacters = 8_388_608;

class RowGroup {
  readonly #columns: readonly ColumnValues[];
  #characters = 0;
  rowCount = 0;

  constructor(columns: readonly FittedColumn[]) {
    this.#columns = columns.map((column, index) => new ColumnValues(column, index));
  }

  add(row: Row): void {
    this.rowCount++;
    // An iterator of indexes and values takes much longer.
    for (let index = 0; index < this.#columns.length; index++) {
      const cell = row[index] ?? null;
      if (typeof cell === "string") this.#characters += cell.length;
      this.#columns[index]?.add(cell);
    }
  }

  get isFull(): boolean {
    return this.rowCount >= maxGroupRows || this.#characters >= maxGroupCharacters;
  }

  /** As the library takes it. */
  get columnData(): ColumnSource[] {
    return this.#columns.map(({ source }) => source);
  }
}

/** If so many of the first texts differ, a column has no dictionary. */
const maxFrequentTexts = 90;

/** The values of a column in one row group. */
class ColumnValues {
  readonly #column: FittedColumn;
  readonly #isFirst: boolean;
  readonly #values: unknown[] = [];
  /** Texts that are repeated are kept once. */
  readonly #frequent = new Map<string, string>();

  constructor(column: FittedColumn, index: number) {
    this.#column = column;
    this.#isFirst = index === 0;
  }

  add(cell: Cell): void {
    const value = toValue(cell, this.#column.type);
    this.#values.push(typeof value === "string" ? this.#withoutCopy(value) : value);
  }

  get source(): ColumnSource {
    const { name, type } = this.#column;
    const isText = type === "text" || type === "object";
    // The library encodes other texts itself, after it has made a dictionary of them.
    const isEncoded = type === "object" || (isText && this.#frequent.size === maxFrequentTexts);
    return {
      name,
      data: isEncoded ? encodeTogether(this.#values as (string | null)[]) : this.#values,
      // Of texts, rows are in the order of the first column only, and readers skip groups by its bounds.
      statistics: !isText || this.#isFirst,
    };
  }

  #withoutCopy(text: string): string {
    const known = this.#frequent.get(text);
    if (known !== undefined) return known;
    if (this.#frequent.size < maxFrequentTexts) this.#frequent.set(text, text);
    return text;
  }
}

/** One buffer for all texts takes a third of the time of one for each. */
function encodeTogether(texts: readonly (string | null)[]): (Uint8Array | null)[] {
  const bytes = Buffer.from(texts.join(""));
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  // Not only ASCII: characters do not show where a text ends.
  if (bytes.length > length) return texts.map((text) => (text === null ? null : Buffer.from(text)));
  let end = 0;
  return texts.map((text) => {
    if (text === null) return null;
    const start = end;
    end += text.length;
    return bytes.subarray(start, end);
  });
}
