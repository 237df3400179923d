/** Checks the JSON of the run log. Opening a mirror checks its other texts; each command parses only the JSON that it reads. */
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { isCoverage, isRunReport, isRunScope, parseOrUndefined } from "../rows/stored-values.ts";
import type { ReportProblem } from "./check-problem.ts";

export function checkRuns(db: Connection, report: ReportProblem): void {
  const select = prepare(db, () =>
    q
      .selectFrom("_run")
      .select(["id", "scope_json as scope", "counts_json as counts", "coverage_json as coverage"]),
  );
  for (const { id, scope, counts, coverage } of select.iterate()) {
    const values = [
      ["scope_json", scope, isRunScope],
      ["counts_json", counts, isRunReport],
      ["coverage_json", coverage, isCoverage],
    ] as const;
    for (const [column, text, isValid] of values)
      if (text !== null && !isValid(parseOrUndefined(text)))
        report({ code: "row", where: `_run ${id}`, message: `its ${column} is not that of a run` });
  }
}
