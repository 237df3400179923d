/**
 * Checks the rows of text files while their bytes pass by: whether they parse, how many there are, whether keys are unique and
 * in order, and whether references resolve. In: lines. Out: problems. Keys are kept in a temporary database, so memory is constant.
 */
import Database from "better-sqlite3";
import { JsonError } from "../../../schema/json.ts";
import { compareText } from "../../../src/platform/text/compare-text.ts";
import { ExportError } from "../../errors.ts";
import { type CsvProfile, csvRowReader } from "../../formats/csv.ts";
import { jsonRowReader } from "../../formats/json.ts";
import type { Row, RowReader } from "../../formats/table.ts";
import type { FileConstraints, PackageFile } from "../descriptor.ts";

export type RowProblem = "unreadable" | "wrong-rows" | "wrong-order" | "duplicate-key" | "broken-reference";

export interface RowCheck {
  /** @throws what `isRowError` knows */
  add(line: string): void;
  /** To be called after the last line. */
  end(): readonly RowProblem[];
}

export interface RowChecks {
  start(file: PackageFile, constraints: FileConstraints): RowCheck;
  /** The files with a reference to a row that is not there. @param sound paths of the files that were read whole */
  findBrokenReferences(sound: ReadonlySet<string>): readonly string[];
  close(): void;
}

/** The text does not parse, or is too long for a text. */
export const isRowError = (error: unknown): boolean =>
  error instanceof JsonError || error instanceof ExportError || error instanceof RangeError;

export function openRowChecks(profile: CsvProfile): RowChecks {
  // SQLite's own temporary file: on disk, without a name where the system allows it, and removed with the connection.
  const db = new Database("");
  db.exec(`pragma journal_mode = off; pragma synchronous = off;
    create table key (path text, key text, primary key (path, key)) without rowid;
    create table reference (path text, target text, key text, primary key (path, target, key)) without rowid;
    begin`);
  const insertKey = db.prepare<[string, string]>("insert or ignore into key values (?, ?)");
  const insertReference = db.prepare<[string, string, string]>(
    "insert or ignore into reference values (?, ?, ?)",
  );
  return {
    start(file, constraints) {
      const { path, columns } = file;
      const reader = readerOf(file, profile);
      const indexesOf = (names: readonly string[]) => names.map((name) => columns.indexOf(name));
      const key = indexesOf(constraints.key);
      const references = constraints.references.map(({ column, to }) => ({
        index: columns.indexOf(column),
        to,
      }));
      const fits = columns.map((_, n) =>
        file.format === "csv" ? csvCellOf[constraints.types[n] ?? ""] : undefined,
      );
      const [first] = key;
      const problems = new Set<RowProblem>();
      let rows = 0;
      let last = "";
      return {
        add(line) {
          const row = reader.add(line);
          if (row === null) return;
          rows++;
          if (row.length !== columns.length || !fitsAll(row, fits)) problems.add("unreadable");
          if (first !== undefined) {
            // Every key begins with a URL. Readers of two exports meet the same one in both because of this order.
            const url = row[first];
            if (typeof url !== "string") problems.add("unreadable");
            else {
              if (compareText(url, last) < 0) problems.add("wrong-order");
              last = url;
            }
          }
          if (key.length > 0 && insertKey.run(path, textOf(row, key)).changes === 0)
            problems.add("duplicate-key");
          for (const { index, to } of references)
            if (row[index] !== null) insertReference.run(path, to, textOf(row, [index]));
        },
        end() {
          if (!reader.isWhole()) problems.add("unreadable");
          if (rows !== file.rows) problems.add("wrong-rows");
          return [...problems];
        },
      };
    },
    findBrokenReferences(sound) {
      const broken = db
        .prepare<[], { path: string; target: string }>(
          `select distinct path, target from reference r
           where not exists (select 1 from key k where k.path = r.target and k.key = r.key)`,
        )
        .all();
      return [
        ...new Set(
          broken.filter(({ path, target }) => sound.has(path) && sound.has(target)).map(({ path }) => path),
        ),
      ];
    },
    close: () => void db.close(),
  };
}

/** What an export writes for a cell of such a type. Other types hold any text. */
const csvCellOf: Readonly<Record<string, RegExp>> = {
  integer: /^-?\d+$/,
  number: /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/,
  boolean: /^[01]$/,
};

const fitsAll = (row: Row, fits: readonly (RegExp | undefined)[]): boolean =>
  fits.every((pattern, n) => {
    const cell = row[n];
    return pattern === undefined || typeof cell !== "string" || pattern.test(cell);
  });

/** In CSV a number is its digits. */
const textOf = (row: Row, indexes: readonly number[]): string =>
  JSON.stringify(indexes.map((index) => row[index]?.toString() ?? null));

interface WholeReader extends RowReader {
  /** Whether there was also what belongs around the rows, and nothing else. To be called after the last line. */
  isWhole(): boolean;
}

function readerOf({ format, columns }: PackageFile, profile: CsvProfile): WholeReader {
  if (format !== "csv") return jsonReaderOf(format, columns);
  const reader = csvRowReader(profile);
  let header: Row | null = null;
  return {
    add(line) {
      const row = reader.add(line);
      if (header !== null || row === null) return row;
      header = row;
      return null;
    },
    isWhole: () =>
      header?.length === columns.length && header.every((name, index) => name === columns[index]),
  };
}

/** No line has a line feed. */
const end = "\n";

/** JSON is one list with a row on each line; NDJSON is nothing but rows. */
function jsonReaderOf(format: string, columns: readonly string[]): WholeReader {
  const reader = jsonRowReader(columns);
  const isList = format === "json";
  let next = isList ? ["["] : ["{"];
  let isSound = true;
  return {
    add(line) {
      const row = reader.add(line);
      // Only rows begin so.
      const part = row === null ? line : "{";
      isSound &&= next.includes(part);
      if (!isList) isSound &&= !line.endsWith(",");
      else if (part === "[") next = ["{", "]"];
      else next = part === "]" ? [end] : line.endsWith(",") ? ["{"] : ["]"];
      return row;
    },
    isWhole: () => isSound && next.includes(isList ? end : "{"),
  };
}
