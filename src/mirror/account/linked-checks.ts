/**
 * Keeps what runs over the service's lists knew of resources that a run requests for the bras of an account alone. A snapshot
 * shows the catalogue as if there had been no such runs: their checks would show what the user owns.
 */
import { sql } from "kysely";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { idsIn, q } from "../queries/query-builder.ts";

export interface LinkedChecks {
  /** Call it before a run requests these resources for an account. */
  keep(ids: readonly number[]): void;
  /** Call it after a run over the lists has received these resources. */
  forget(ids: readonly number[]): void;
}

export function prepareLinkedChecks(db: Connection): LinkedChecks {
  // Raw: an insertion from a select with subqueries. What is unconfirmed of a snapshot counts as unknown.
  const keep = db.prepare<{ ids: string }>(
    `insert or ignore into _linked_check (resource_id, seq, checked_run, checked_at)
     select r.id, iif(r.state = 'held', v.seq, null), r.last_checked_run, r.checked_at
     from _resource r left join _revision v on v.resource_id = r.id and v.to_run is null and not exists (
       select 1 from _loaded l where l.resource_id = v.resource_id and l.seq = v.seq
         and l.validator_run is null and l.bytes_run is null)
     where r.id in (select value from json_each(:ids))`,
  );
  const isAnyKept = prepareColumn(db, () =>
    q.selectFrom("_linked_check").select(sql<1>`1`.as("found")).limit(1),
  );
  const forget = prepare(db, (p: { ids: string }) =>
    q.deleteFrom("_linked_check").where("resource_id", "in", idsIn(p.ids)),
  );
  return {
    keep: (ids) => void keep.run({ ids: JSON.stringify(ids) }),
    forget(ids) {
      if (isAnyKept.get() !== undefined) forget.run({ ids: JSON.stringify(ids) });
    },
  };
}
