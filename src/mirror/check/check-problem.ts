/** The defects that a check finds in a mirror, and how it compares values. */
import { comparableAddress } from "../../service/same-origin.ts";

/** A defect of a mirror. */
export interface CheckProblem {
  readonly code:
    | "file"
    | "foreign-key"
    | "body"
    | "state"
    | "row"
    | "link"
    | "member"
    | "page"
    | "search"
    | "media";
  /** The resource's URL, the table, or a picture's file. */
  readonly where: string;
  /** For the user: what is wrong. */
  readonly message: string;
}

export type ReportProblem = (problem: CheckProblem) => void;

/** A text that is equal for equal values; unlike JSON, it distinguishes integers that are read as bigint. */
export const toComparable = (value: unknown): string =>
  JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? `${part}n` : part));

/** A list may spell the address of a known resource differently. */
export const toComparableUrl = (url: string | null): string | null =>
  url === null ? null : comparableAddress(url);
