/** A field: its text, and whether it was quoted. */
export interface CsvField {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** An independent RFC 4180 reader for tests: no options, LF or CRLF, and an error for invalid CSV. */
export function readCsv(csv: string): CsvField[][] {
  const records: CsvField[][] = [];
  let record: CsvField[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < csv.length) {
    const at = field.lastIndex;
    const match = field.exec(csv);
    if (match === null)
      throw new Error(`not CSV at character ${at}: ${JSON.stringify(csv.slice(at, at + 40))}`);
    const [, quoted, bare = "", end] = match;
    record.push(
      quoted === undefined
        ? { text: bare, isQuoted: false }
        : { text: quoted.replaceAll('""', '"'), isQuoted: true },
    );
    if (end === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}
