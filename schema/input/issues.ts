/** Irregularities of a body, within limits. */
import { limits } from "./limits.ts";

interface Issue {
  readonly pointer: string;
  readonly code: string;
  readonly detail?: string;
}

/** Where a reader reports issues; an array is one. */
export interface IssueSink<Reported extends Issue> {
  push(issue: Reported): unknown;
}

/** Keeps the first issues, and all of `meta`, which decide whether a listing is whole. Counts the others. */
export class IssueList<Reported extends Issue> implements IssueSink<Reported> {
  readonly #kept: (Reported | (Issue & { readonly code: "more-issues" }))[] = [];
  #omitted = 0;

  push(issue: Reported): void {
    const isOfMeta = issue.pointer.startsWith("/meta/") && issue.code !== "unknown-field";
    if (issue.code === "more-issues") this.#omitted += Number.parseInt(issue.detail ?? "", 10);
    else if (this.#kept.length >= limits.issuesPerBody && !isOfMeta) this.#omitted++;
    else this.#kept.push({ ...issue, pointer: shortened(issue.pointer) });
  }

  pushAll(issues: Iterable<Reported>): void {
    for (const issue of issues) this.push(issue);
  }

  /** The issues; the last one says how many more there are. */
  all(): readonly (Reported | (Issue & { readonly code: "more-issues" }))[] {
    if (this.#omitted === 0) return this.#kept;
    return [...this.#kept, { pointer: "", code: "more-issues", detail: `${this.#omitted} more` }];
  }
}

function shortened(pointer: string): string {
  if (pointer.length <= limits.pointerLength) return pointer;
  return `${pointer.slice(0, limits.pointerLength).toWellFormed()}…`;
}
