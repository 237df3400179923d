/**
 * Notes in the current revisions when they were seen last, before something else is noted as the last answer: a later
 * body, or that it is gone. What answered that it is gone was noted then, and is not seen again before it is held.
 * @param ids SQL that gives the resources
 */
export const noteSeen = (ids: string): string =>
  `update _revision set (seen_run, seen_at) = (
     select abs(checked_run), checked_at from _resource where id = resource_id)
   where to_run is null and resource_id in (
     select id from _resource where id in (${ids}) and absent_by is not 'answer')`;
