/** How often resources of a kind change, learned from what the mirror has seen of them. */
import { millisOf } from "../../../schema/stored-time.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { dayMillis } from "../../service/clock.ts";
import { weights } from "./weights.ts";

interface KindHistory {
  readonly kind: string;
  /** Changes seen. */
  readonly changes: number;
  /** Days from the first look to the last one, of all resources together. */
  readonly days: number;
}

/** @returns changes a day of one resource, by kind; what was hardly watched is near a guess */
export function readChangeRates(db: Connection): Map<string, number> {
  const histories = db
    .prepare<[], KindHistory>(
      `select r.kind, total(v.changes) as changes,
         total(max(0, r.checked_at - ${millisOf("f.started_at")})) / ${dayMillis} as days
       from _resource r join _run f on f.id = r.first_run
       left join (select resource_id as id, max(seq) - 1 as changes from _revision group by resource_id) v on v.id = r.id
       where r.checked_at is not null group by r.kind`,
    )
    .all();
  return new Map(histories.map((history) => [history.kind, rateOf(history)]));
}

function rateOf({ changes, days }: KindHistory): number {
  const { changesPerDay, changeGuessDays } = weights;
  return (changes + changesPerDay * changeGuessDays) / (days + changeGuessDays);
}
