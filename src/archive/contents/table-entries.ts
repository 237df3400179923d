/** Tables of an archive as entries, by the functions of exports: CSV for spreadsheets, JSON, which is exact, and a description. */
import { createHash } from "node:crypto";
import type { ExportedState, PackageFile, Publication } from "../../../exports/package/descriptor.ts";
import type { Reference } from "../../../exports/package/table-schema.ts";
import { descriptorText, toDescriptor } from "../../../exports/package/to-descriptor.ts";
import { contentOf, fileOf, textChunks, withCount } from "../../../exports/package/write-tables.ts";
import type { PublicTable } from "../../mirror/public-tables.ts";
import { partBytes } from "../container/row-parts.ts";
import type { NewEntry } from "../container/zip-writer.ts";
import { descriptorEntry, tableEntry } from "./entry-names.ts";
import { backupFormatVersion } from "./manifest.ts";

/** CSV has the same form as in exports. */
const csv = "guarded";

/** A table in both formats. */
export function* tableEntries(
  table: PublicTable,
  nameOf: (table: string, format: "csv" | "json") => string,
): Generator<NewEntry> {
  for (const format of ["csv", "json"] as const)
    yield { name: nameOf(table.name, format), content: piecesOf(textChunks(table, format, csv)) };
}

export interface PackagedTables {
  readonly tables: readonly PublicTable[];
  readonly formats: readonly ("csv" | "json")[];
  readonly state: ExportedState;
  readonly references?: readonly Reference[];
  readonly publication?: Publication;
}

/** Tables in `tables/`, as an export makes them: a Data Package, whose description comes last. */
export function* packageEntries({
  tables,
  formats,
  state,
  references = [],
  publication = {},
}: PackagedTables): Generator<NewEntry> {
  const files: PackageFile[] = [];
  for (const table of tables.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    for (const format of formats) {
      const counted = withCount(table);
      const { chunks, columns } = contentOf(counted, format, csv);
      const { content, summary } = withSummary(piecesOf(chunks));
      yield { name: tableEntry(table.name, format), content };
      files.push(fileOf({ table: counted, columns }, `${table.name}.${format}`, format, summary()));
    }
  // Not the version of the program: the same state has the same root hash.
  const contents = {
    toolVersion: `archive format ${backupFormatVersion}`,
    state,
    csv,
    files,
    companions: [],
  };
  const text = descriptorText(toDescriptor({ ...contents, csv }, references, publication));
  yield { name: descriptorEntry, content: Buffer.from(text) };
}

function withSummary(pieces: Iterable<Buffer>) {
  const sum = createHash("sha256");
  let bytes = 0;
  function* content(): Generator<Buffer> {
    for (const piece of pieces) {
      sum.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  return { content: content(), summary: () => ({ bytes, sha256: sum.digest("hex") }) };
}

/** Pieces that are large enough to be compressed one by one. */
export function* piecesOf(chunks: Iterable<string>): Generator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    const part = Buffer.from(chunk);
    parts.push(part);
    bytes += part.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(parts);
    [parts, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(parts);
}
