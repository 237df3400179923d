import type { Connection } from "./connection.ts";

/**
 * Makes what was not there due again where something held still leads to it: a listing that does not change says no
 * second time that a thing is there, and its absence may have been a passing one.
 */
export function reconsiderTombstones(db: Connection): void {
  db.exec(
    `update _resource set state = 'due' where state = 'gone' and (
       exists (select 1 from _member m join _resource p on p.id = m.page_id and p.state = 'held' where m.item_id = _resource.id)
       or id in (select l.to_id from _link l join _resource s on s.id = l.from_id and s.state = 'held')
     ) or state = 'superseded' and id in (
       select p.next_id from _page p join _resource r on r.id = p.id and r.state = 'held')`,
  );
}
