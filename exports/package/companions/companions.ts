/**
 * The files beside the tables of a package: a README, and a script each for DuckDB, pandas and R, which load the CSV files with
 * the types and keys of the columns. In: the contents of a package. Out: texts, the same for the same state.
 */
import { describeColumn } from "../../../schema/dictionary/columns.ts";
import type { CompanionName, PackageContents, Publication } from "../descriptor.ts";
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
  const files = contents.files.filter(
    ({ format, table, columns }) =>
      format === "csv" && columns.every((column) => describeColumn(table, column) !== null),
  );
  const csv = { ...contents, files };
  const scripts: readonly Companion[] = [
    { path: "load.sql", text: loadSql(csv, references) },
    { path: "load.py", text: loadPython(csv) },
    { path: "load.R", text: loadR(csv) },
  ];
  const readme: Companion = { path: "README.md", text: readMe(contents, publication) };
  return files.length === 0 ? [readme] : [readme, ...scripts];
}
