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
      return Buffer.from(String(cell));
  }
}

/** Larger groups compress little better, and take more memory. */
const maxGroupRows = 5_000;
const maxGroupCharacters = 8_388_608;

class RowGroup {
  readonly #columns: readonly FittedColumn[];
  readonly #values: readonly unknown[][];
  #characters = 0;
  rowCount = 0;

  constructor(columns: readonly FittedColumn[]) {
    this.#columns = columns;
    this.#values = columns.map(() => []);
  }

  add(row: Row): void {
    this.rowCount++;
    for (const [index, { type }] of this.#columns.entries()) {
      const cell = row[index] ?? null;
      if (typeof cell === "string") this.#characters += cell.length;
      this.#values[index]?.push(toValue(cell, type));
    }
  }

  get isFull(): boolean {
    return this.rowCount >= maxGroupRows || this.#characters >= maxGroupCharacters;
  }

  /** As the library takes it. */
  get columnData(): ColumnSource[] {
    return this.#columns.map(({ name, type }, index) => ({
      name,
      data: this.#values[index] ?? [],
      // Bounds of other texts help no reader: rows are sorted by the first column.
      statistics: index === 0 || (type !== "text" && type !== "object"),
    }));
  }
}
