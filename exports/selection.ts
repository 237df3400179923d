/** Which rows and columns an export has, as the user names them. */
import { prepareColumn } from "../src/mirror/file/statements.ts";
import { findBrands, hintAtBrands } from "../src/mirror/find-brands.ts";
import type { Point } from "../src/mirror/points/point.ts";
import { resolveSince } from "../src/mirror/points/resolve-point.ts";
import { publicTables, type TableSelection } from "../src/mirror/public-tables.ts";
import { idsIn, q } from "../src/mirror/queries/query-builder.ts";
import type { MirrorReader } from "../src/mirror/reader.ts";
import { similarNames } from "../src/platform/text/fuzzy-names.ts";
import { ExportError } from "./errors.ts";
import type { RowCondition } from "./row-condition.ts";

/** The table of responses, which is exported only on request. */
export const envelopeTable = "envelope";

export interface SelectionRequest {
  /** Only these tables; all that have rows if empty. */
  readonly tables: readonly string[];
  /** Only these columns, in this order, and only tables that have one. Default: all. */
  readonly columns?: readonly string[];
  /** Only rows of these brands (name, slug or URL), and of their models and sizes. Default: all. */
  readonly brands?: readonly string[];
  /** Only rows of resources that changed after this point. Default: all. */
  readonly changedSince?: Point;
  /** With the table `envelope`: the last response for each resource, as sent. Default: only if it is among `tables`. */
  readonly withEnvelopes?: boolean;
  /** Only rows that meet it; with exactly one table. Default: all. */
  readonly where?: RowCondition;
}

/** The rows that meet `where` have been chosen. @throws ExportError for an unknown table, column or brand; PointError */
export function readSelection(mirror: MirrorReader, request: SelectionRequest): TableSelection {
  const { tables: names, columns = [], brands = [], changedSince, where } = request;
  const withEnvelopes = request.withEnvelopes === true || names.includes(envelopeTable);
  if (names.length > 0 || columns.length > 0) requireKnownNames(mirror, names, columns, withEnvelopes);
  if (brands.length > 0 && mirror.identity.area === "account")
    throw new ExportError(
      "bad-selection",
      "The tables of an account are not sorted by brand.",
      "Leave out --brand, or export the catalogue.",
    );
  return {
    ...(columns.length > 0 && { columns }),
    ...(brands.length > 0 && { brandHrefs: brands.flatMap((name) => hrefsOfBrand(mirror, name)) }),
    ...(withEnvelopes && { withEnvelopes }),
    ...(where && { hasChosenKeys: true }),
    ...(changedSince && { changedAfterRun: resolveSince(mirror.db, changedSince).run }),
  };
}

function requireKnownNames(
  mirror: MirrorReader,
  names: readonly string[],
  columns: readonly string[],
  withEnvelopes: boolean,
): void {
  // Named alone, the table of envelopes needs no option.
  const all = publicTables(mirror, { withEnvelopes: true });
  const chosen = all.filter(({ name }) =>
    name === envelopeTable ? withEnvelopes : names.length === 0 || names.includes(name),
  );
  requireKnown(
    "table",
    names,
    all.map(({ name }) => name),
  );
  requireKnown("column", columns, [...new Set(chosen.flatMap((table) => table.columns))]);
}

function requireKnown(what: "table" | "column", names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const similar = similarNames(unknown, known, 3);
  throw new ExportError(
    what === "table" ? "bad-table-name" : "bad-selection",
    `There is no ${what} ${JSON.stringify(unknown)}.`,
    similar.length > 0 ? `Did you mean ${similar.join(" or ")}?` : `Known: ${known.join(", ")}.`,
  );
}

function hrefsOfBrand(mirror: MirrorReader, name: string): string[] {
  const found = findBrands(mirror, name, { withGone: true });
  if (found.certainty === "none")
    throw new ExportError(
      "bad-selection",
      `No brand is called ${JSON.stringify(name)}.`,
      hintAtBrands(found.similar),
    );
  const select = prepareColumn(mirror.db, (p: { ids: string }) =>
    q.selectFrom("_resource").select("url").where("id", "in", idsIn(p.ids)),
  );
  return select.all({ ids: JSON.stringify(found.ids) });
}
