/** How far the service has confirmed what a mirror holds: all, unless it came from a shared snapshot. */

/**
 * SQL for how the service has confirmed the last body of a resource: `bytes` if it has sent it, `validator` if it has
 * confirmed the validator of a body from a snapshot, null if neither.
 */
export const confirmedSql = (resource: string): string =>
  `nullif(coalesce((
     select case when l.bytes_run is not null then 'bytes' when l.validator_run is not null then 'validator' else '' end
     from _loaded l where l.resource_id = ${resource}.id
       and l.seq = (select max(v.seq) from _revision v where v.resource_id = l.resource_id)), 'bytes'), '')`;
