/** Checks the states of resources against their revisions, their owners, and the marks of absent ones. */
import { type SqlBool, sql } from "kysely";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { ReportProblem } from "./check-problem.ts";

export function checkStates(db: Connection, report: ReportProblem): void {
  const selectWrong = prepare(db, () =>
    q
      .selectFrom((eb) =>
        eb
          .selectFrom("_resource as r")
          .select(["r.url", "r.state"])
          .select((sub) =>
            sub
              .selectFrom("_revision as v")
              .select(({ fn }) => fn.countAll<number>().as("count"))
              .whereRef("v.resource_id", "=", "r.id")
              .where("v.to_run", "is", null)
              .as("current"),
          )
          .as("s"),
      )
      .select(["s.url", "s.state", "s.current"])
      .where(
        sql<SqlBool>`current > 1 or state = 'held' and current = 0 or state in ('gone', 'elsewhere') and current = 1`,
      ),
  );
  for (const { url, state, current } of selectWrong.iterate()) {
    report({ code: "state", where: url, message: `is ${state} and has ${current} current revisions` });
  }
  const selectSelfOwned = prepareColumn(db, () =>
    q.selectFrom("_resource").select("url").whereRef("owner_id", "=", "id"),
  );
  for (const url of selectSelfOwned.iterate())
    report({ code: "state", where: url, message: "is its own owner" });
  const selectWronglyAbsent = prepare(db, () =>
    q
      .selectFrom("_resource")
      .select(["url", "state"])
      .where((eb) =>
        eb.or([
          eb("absent_by", "is not", null).and("state", "not in", ["held", "due", "failed"]),
          sql<SqlBool>`(absent_by is null) <> (absent_run is null)`,
        ]),
      ),
  );
  for (const { url, state } of selectWronglyAbsent.iterate()) {
    report({ code: "state", where: url, message: `is ${state} and wrongly marked as absent` });
  }
}
