/** How many resources of each kind a mirror holds, and how fresh they are. */
import { sql } from "kysely";
import type { ResourceState } from "../../schema/tables.ts";
import { prepare } from "../mirror/file/statements.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { isoTime, q } from "./views.ts";

export interface KindStatus {
  readonly kind: string;
  readonly known: number;
  readonly held: number;
  readonly due: number;
  readonly failed: number;
  readonly gone: number;
  /** Times of the last check of held resources, ISO 8601, UTC: all of them were checked at this time or later. */
  readonly oldestCheckAt: string | null;
  /** At least 90 % of them were checked at this time or later. */
  readonly p90CheckAt: string | null;
  /** At least half of them. */
  readonly p50CheckAt: string | null;
  /** All four times are null if nothing is held. */
  readonly newestCheckAt: string | null;
}

export function readKindStatus({ db }: MirrorReader): KindStatus[] {
  const countOf = (state: ResourceState) => sql<number>`sum(state = ${state})`;
  /** @param rank among the held resources of the kind; 1 is the newest check */
  const checkAt = (rank: string) =>
    isoTime<string | null>(`max(at) filter (where state = 'held' and rank = ${rank})`);
  return prepare(db, () =>
    q
      .with("ranked", (cte) =>
        cte
          .selectFrom("_resource")
          .select(["id", "kind", "state", "checked_at as at"])
          .select(
            sql<number>`row_number() over (partition by kind, state order by checked_at desc)`.as("rank"),
          )
          .select(sql<number>`count(*) over (partition by kind, state)`.as("count"))
          .where("state", "not in", ["elsewhere", "superseded"]),
      )
      .selectFrom("ranked")
      .select(["kind", (eb) => eb.fn.countAll<number>().as("known")])
      .select([
        countOf("held").as("held"),
        countOf("due").as("due"),
        countOf("failed").as("failed"),
        countOf("gone").as("gone"),
      ])
      .select([
        checkAt("count").as("oldestCheckAt"),
        checkAt("(9 * count + 9) / 10").as("p90CheckAt"),
        checkAt("(count + 1) / 2").as("p50CheckAt"),
        checkAt("1").as("newestCheckAt"),
      ])
      .groupBy("kind")
      .orderBy((eb) => eb.fn.min("id")),
  ).all();
}
