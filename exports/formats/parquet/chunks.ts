/**
 * Tables as Parquet: typed columns, compressed with Zstandard, in row groups of bounded size. Columns are encoded here, cell by
 * cell; hyparquet-writer writes the headers of pages and the footer (decision 33).
 */
import type { RowGroup } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import type { Coverage } from "../../../src/mirror/runs/coverage.ts";
import { describeMissing } from "../../../src/mirror/runs/describe-coverage.ts";
import type { FittedColumn } from "../fitted-types.ts";
import type { ExportTable } from "../table.ts";
import { ColumnEncoder, maxGroupRows, schemaOf } from "./column-encoder.ts";
import { ByteList } from "./value-lists.ts";

/** Of encoded cells, before they are compressed. */
const maxGroupBytes = 8_388_608;
/** A longer least or greatest text is cut: readers only compare with it. */
const maxBoundBytes = 128;
const magic = Buffer.from("PAR1");

/**
 * The bytes of a file. Text is escaped (`escapeText`), also in JSON columns.
 * @param coverage of the table; what is missing is in the file's metadata, under `coverage`
 */
export function* parquetChunks(
  table: ExportTable,
  columns: readonly FittedColumn[],
  coverage: Coverage | null,
): Generator<Uint8Array> {
  const missing = coverage === null ? null : describeMissing(coverage);
  const writer = new ByteWriter();
  // Bounds of other texts help no reader: rows are sorted by the first column.
  const encoders = columns.map(
    (column, index) =>
      new ColumnEncoder(column, index === 0 || !["text", "object", "verbatim"].includes(column.type)),
  );
  const parts = new ByteList();
  const groups: RowGroup[] = [];
  let [rows, bytes, allRows] = [0, 0, 0];
  const writeGroup = () => {
    const chunks = encoders.map((encoder) => encoder.writeChunk(writer, parts));
    const uncompressed = chunks.reduce(
      (sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n),
      0n,
    );
    groups.push({ columns: chunks, total_byte_size: uncompressed, num_rows: BigInt(rows) });
    allRows += rows;
    rows = bytes = 0;
  };
  const takeBytes = () => {
    const taken = writer.getBytes().slice();
    writer.index = 0;
    return taken;
  };
  writer.appendBytes(magic);
  for (const row of table.rows()) {
    for (let n = 0; n < encoders.length; n++) bytes += encoders[n]?.add(row[n] ?? null) ?? 0;
    rows++;
    if (rows < maxGroupRows && bytes < maxGroupBytes) continue;
    writeGroup();
    yield takeBytes();
  }
  if (rows > 0) writeGroup();
  const schema = [{ name: "root", num_children: columns.length }, ...columns.map(schemaOf)];
  const metadata = {
    ...{ version: 2, created_by: "armoire", schema, num_rows: BigInt(allRows), row_groups: groups },
    ...(missing !== null && { key_value_metadata: [{ key: "coverage", value: missing }] }),
    // Of reading only.
    metadata_length: 0,
  };
  writeMetadata(writer, metadata, maxBoundBytes);
  writer.appendBytes(magic);
  yield takeBytes();
}
