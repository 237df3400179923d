/** What the process that asks and the query's own process say to each other, strictly in turn: a message, its answer. */
import type { Row } from "../../exports/table.ts";
import type { Cell } from "../../schema/fields.ts";
import type { QueryErrorCode } from "./query-error.ts";

/** For `?`, in order; or for `:name`, `@name` and `$name`, by name. */
export type QueryParameters = readonly Cell[] | Readonly<Record<string, Cell>>;

export interface StartQuery {
  readonly type: "start";
  /** An absolute path. */
  readonly file: string;
  /** An absolute path: another mirror that the statement may read, its tables under `catalogue.`; null for none. */
  readonly catalogue: string | null;
  /** Statements that make the file show its past; none for the present. */
  readonly shownViews: readonly string[];
  readonly sql: string;
  readonly parameters: QueryParameters;
  readonly maxRows: number;
  readonly timeoutMillis: number;
}

export type QueryMessage = StartQuery | { readonly type: "next" };

export type QueryAnswer =
  | { readonly type: "columns"; readonly columns: readonly string[] }
  | { readonly type: "rows"; readonly rows: readonly Row[] }
  | { readonly type: "end"; readonly isCut: boolean }
  | {
      readonly type: "error";
      readonly code: QueryErrorCode;
      readonly message: string;
      readonly hint: string;
    };
