/** A defect of a mirror, found by a check. */
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
  readonly what: string;
}

export type ReportProblem = (problem: CheckProblem) => void;
