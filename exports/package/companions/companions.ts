/**
 * The files beside the tables of a package: a README, and a script each for DuckDB, pandas and R, which load the CSV files with
 * the types and keys of the columns; without CSV, one that loads Parquet files into DuckDB with keys, which
 * they lack. In: the contents of a package. Out: texts, the same for the same state.
 */
import { describeColumn } from "../../../schema/dictionary/columns.ts";
import type { ExportFormat } from "../../formats/table.ts";
import type { PackageContents, Publication } from "../descriptor.ts";
import type { CompanionName } from "../names.ts";
import type { Reference } from "../table-schema.ts";
import { loadPython, loadR, loadSql } from "./load-scripts.ts";
import { readMe } from "./readme.ts";

export interface Companion {
  readonly path: CompanionName;
  readonly text: string;
}

export function companionsOf(
  contents: PackageContents,
  references: readonly Reference[],
  publication: Publication,
): Companion[] {
  const filesOf = (wanted: ExportFormat) =>
    contents.files.filter(
      ({ format, table, columns }) =>
        format === wanted && columns.every((column) => describeColumn(table, column) !== null),
    );
  const [csv, parquet] = [filesOf("csv"), filesOf("parquet")].map((files) => ({ ...contents, files }));
  const readme: Companion = { path: "README.md", text: readMe(contents, publication) };
  if (csv !== undefined && csv.files.length > 0)
    return [
      readme,
      { path: "load.sql", text: loadSql(csv, references) },
      { path: "load.py", text: loadPython(csv) },
      { path: "load.R", text: loadR(csv) },
    ];
  if (parquet === undefined || parquet.files.length === 0) return [readme];
  return [readme, { path: "load.sql", text: loadSql(parquet, references) }];
}
