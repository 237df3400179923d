/**
 * The public views of a mirror, for any SQLite tool. Views contain no data, so they are not part of migrations: the mirror
 * recreates them when their definitions here differ from those in the file.
 */
import { measurement } from "./entities/measurement.ts";
import { pictureNameSql } from "./entities/picture-types.ts";
import { entities, listTables } from "./entities.ts";
import { columnsOf, type Entity, type ListTable } from "./rows-from-body.ts";
import { isoTimeOf } from "./tables.ts";
import { confirmedSql } from "./views/confirmed.ts";
import { resourceKey } from "./views/resource-key.ts";
import { sizeLabelViews } from "./views/size-label.ts";

const relationKinds = "('related_brands', 'related_models', 'same_cut_models', 'adjacent_sizes')";
const listKinds = "('brands', 'models', 'sizes', 'bras', 'measurements')";
const entityKinds = "('brand', 'model', 'size', 'me', 'bra', 'measurement')";
const listParents: Readonly<Record<string, string>> = { model_picture: "model_href", bra_size: "bra_href" };
const withTombstones = new Set(["brand", "model", "size"]);

/** View name to its SELECT statement. */
export const views: Readonly<Record<string, string>> = Object.fromEntries([
  ...entities.map((entity) => [entity.table, entityView(entity)]),
  ...entities
    .filter((entity) => withTombstones.has(entity.table))
    .map((entity) => [`${entity.table}_current`, `select * from ${entity.table} where gone_at is null`]),
  ...listTables.map((list) => [list.table, listView(list)]),
  ...Object.entries(sizeLabelViews),
  // SQLite parses at most 1,000 levels of JSON. A deeper measurement has no values here, but is complete in `measurement`.
  [
    "measurement_value",
    `select m.href as href, m.n as n, v.key as name, v.atom as value
     from measurement m join json_each(iif(json_valid(m.payload), m.payload, '{}')) v
     where v.type not in ('object', 'array')`,
  ],
  [
    "relation",
    `select distinct source.url as href, l.name as name, item.url as related_href
     from _link l
     join _resource source on source.id = l.from_id
     join _resource collection on collection.id = l.to_id and collection.kind in ${relationKinds}
     join _page p on p.collection_id = l.to_id
     join _resource page on page.id = p.id and page.state <> 'superseded'
     join _member m on m.page_id = p.id
     join _resource item on item.id = m.item_id`,
  ],
  [
    "known",
    `select r.kind as kind, r.url as href,
       (select name from (
          select m.name, (select max(v.from_run) from _revision v where v.resource_id = m.page_id) as read_run, m.page_id, m.n
          from _member m where m.item_id = r.id and m.name is not null order by read_run desc, m.page_id, m.n limit 1
        )) as name, r.state as state,
       f.started_at as first_seen_at, owner.url as owner_href
     from _resource r join _run f on f.id = r.first_run
     left join _resource list on list.id = r.owner_id
     left join _resource owner on owner.id = list.owner_id and owner.kind in ${entityKinds}
     where r.kind in ${entityKinds} and r.state <> 'elsewhere'`,
  ],
  [
    "resource_key",
    `select r.kind as kind, r.url as href, ${resourceKey("r")} as key
     from _resource r where r.kind in ${entityKinds} and r.state <> 'elsewhere'`,
  ],
  [
    "coverage",
    `select r.kind as kind, count(*) as known, sum(r.state = 'held') as held, sum(r.state = 'due') as due,
       sum(r.state = 'failed') as failed, sum(r.state = 'gone') as gone,
       iif(total(r.state = 'held' and r.checked_at is null) = 0, ${isoTimeOf("min(r.checked_at) filter (where r.state = 'held')")}, null)
         as oldest_check_at
     from _resource r where r.state not in ('elsewhere', 'superseded') group by r.kind
     union all
     select rtrim(list.kind, 's') as kind, null as known, 0 as held, 0 as due, 0 as failed, 0 as gone, null as oldest_check_at
     from _resource list where list.kind in ${listKinds} and list.state in ('due', 'failed')
       and not exists (select 1 from _resource item where item.kind = rtrim(list.kind, 's') and item.state not in ('elsewhere', 'superseded'))
     group by list.kind`,
  ],
  [
    "media",
    `select r.url as href, u.field as field, m.url as url, iif(f.sha256 is null, null, 'media/' || ${pictureNameSql("f.sha256", "f.type")}) as file, f.type as type,
       f.size as size, ${isoTimeOf("f.fetched_at")} as fetched_at, m.error as error, u.is_current as is_current
     from _media_use u join _resource r on r.id = u.resource_id join _media m on m.id = u.media_id
     left join _media_file f on f.media_id = m.id and f.seq = (select max(seq) from _media_file where media_id = m.id)`,
  ],
  [
    "schema_drift",
    `select d.kind as kind, d.pointer as pointer, d.code as code, d.first_run as run, f.started_at as first_seen_at
     from _drift d join _run f on f.id = d.first_run`,
  ],
  [
    "recently_changed",
    `select r.kind as kind, r.url as href, v.seq as revision, ${isoTimeOf("v.fetched_at")} as changed_at, v.from_run as run
     from _revision v join _resource r on r.id = v.resource_id
     where r.kind in ${entityKinds} order by v.from_run desc, r.url`,
  ],
]);

function entityView(entity: Entity): string {
  const references = entity.references.map((name) => `${name}_reference.url as ${name}_href`);
  // The brand of a size is the brand of its model; a column of its own could contradict that.
  const brandOfSize = entity.table === "size" ? ["brand_reference.url as brand_href"] : [];
  const columns = [
    "r.url as href",
    ...references,
    ...brandOfSize,
    ...columnsOf(entity).map((column) => `t.${column} as ${column}`),
    "f.started_at as first_seen_at",
    `${isoTimeOf("r.checked_at")} as checked_at`,
    "g.started_at as gone_at",
    // The area of accounts has no snapshots.
    ...(withTombstones.has(entity.table) ? [`${confirmedSql("r")} as confirmed`] : []),
  ];
  const joins = [
    "join _resource r on r.id = t.id",
    "join _run f on f.id = r.first_run",
    "left join _run g on g.id = r.gone_run",
    ...entity.references.map(
      (name) => `left join _resource ${name}_reference on ${name}_reference.id = t.${name}_id`,
    ),
    ...(entity.table === "size"
      ? [
          "left join _model m on m.id = t.model_id",
          "left join _resource brand_reference on brand_reference.id = m.brand_id",
        ]
      : []),
  ];
  return `select ${columns.join(", ")} from _${entity.table} t ${joins.join(" ")}`;
}

function listView(list: ListTable): string {
  const columns = ["n", ...list.columns].map((column) => `t.${column} as ${column}`);
  // Measurements have no entity table, so their list view has the columns with times.
  if (list === measurement) {
    return `select r.url as href, ${columns.join(", ")}, f.started_at as first_seen_at, ${isoTimeOf("r.checked_at")} as checked_at,
       g.started_at as gone_at
      from _measurement t join _resource r on r.id = t.parent_id join _run f on f.id = r.first_run
      left join _run g on g.id = r.gone_run`;
  }
  return `select r.url as ${listParents[list.table] ?? "href"}, ${columns.join(", ")}
    from _${list.table} t join _resource r on r.id = t.parent_id`;
}
