/** Questions about the contents of the mirror and their changes. */
import { idOf } from "../../../schema/views/resource-key.ts";
import { brand, isOfBrand, keyOf, kind, limit, type Question, sinceSeen } from "./question.ts";

const countedTables = { brand: "_brand", model: "_model", size: "_size" };

const countedKinds = Object.keys(countedTables)
  .map((kind) => `('${kind}')`)
  .join(", ");

const rowsOfCounted = Object.entries(countedTables)
  .map(
    ([kind, table]) => `select '${kind}' as kind, id, min(from_run) as run from (
    select id, from_run from ${table} union all select id, from_run from ${table}_past) group by id`,
  )
  .join("\n  union all ");

export const mirrorQuestions: readonly Question[] = [
  {
    name: "brand-coverage",
    title:
      "How many of the listed models and sizes of each brand are fetched? The least complete brands come first; a list that is not fetched has no count.",
    options: [brand],
    sql: `with read_list as materialized (select distinct o.url as href, l.kind
    from _resource l join _resource o on o.id = l.owner_id where l.kind in ('models', 'sizes') and l.state = 'held'),
  listed_model as materialized (select href, owner_href, state from known
    where kind = 'model' and state <> 'gone'),
  of_models as (select m.owner_href as href, count(*) as known, sum(m.state = 'held') as held,
      sum(m.href not in (select href from read_list where kind = 'sizes')) as unread
    from listed_model m group by m.owner_href),
  of_sizes as (select m.owner_href as href, count(*) as known, sum(s.state = 'held') as held
    from known s join listed_model m on m.href = s.owner_href
    where s.kind = 'size' and s.state <> 'gone' group by m.owner_href)
select k.name, k.state, coalesce(m.known, iif(l.href is null, null, 0)) as models_known, coalesce(m.held, 0) as models_held,
  coalesce(s.known, iif(l.href is null or m.unread > 0, null, 0)) as sizes_known, coalesce(s.held, 0) as sizes_held, ${keyOf("k.href")}, k.href
from known k left join of_models m on m.href = k.href left join of_sizes s on s.href = k.href
  left join read_list l on l.href = k.href and l.kind = 'models'
where k.kind = 'brand' and k.state <> 'gone'
  and ${isOfBrand("k.href")}
order by models_known is null desc, sizes_known is null desc,
  coalesce(models_known, 0) + coalesce(sizes_known, 0) - models_held - sizes_held desc, k.href`,
  },
  {
    name: "counts-by-run",
    title:
      "How many brands, models and sizes did each run add and lose (null if all runs before it were pruned), and how many were held after it? The newest run comes first.",
    options: [
      { ...kind, choices: Object.keys(countedTables), about: "only this kind: brand, model or size" },
      limit,
    ],
    // A row stays while its resource is gone: the states of the resource say when that was.
    sql: `with begun as materialized (
  ${rowsOfCounted}),
resource_state as (
  select id, gone_run, to_run from _resource_past
    where to_run <= (select max(id) from _run) and id in (select id from begun)
  union all select id, gone_run, null from _resource where id in (select id from begun)),
turn as (
  select id, gone_run is not null as is_gone, coalesce(lag(gone_run is not null) over past, 0) as was_gone,
    coalesce(lag(to_run) over past, gone_run) as run
  from resource_state window past as (partition by id order by to_run nulls last)),
change as (
  select kind, id, run, sum(step) as step, max(is_first) as is_first from (
    select kind, id, run, 1 as step, 1 as is_first from begun
    union all select b.kind, b.id, max(t.run, b.run), t.was_gone - t.is_gone, 0
      from turn t join begun b on b.id = t.id where t.is_gone <> t.was_gone)
  group by kind, id, run),
baseline as (
  select min(id) as run from _run where ended_at is not null and pruned_at is null
    having min(id) > (select min(id) from _run where pruned_at is not null)),
counted as (
  select kind, run, count(*) filter (where step > 0 and is_first) as added, count(*) filter (where step < 0) as gone,
    count(*) filter (where step > 0 and not is_first) as returned, sum(step) as step
  from change group by kind, run),
counts as (
  select r.id as run, r.ended_at, r.pruned_at, k.column1 as kind, b.run is null as is_known, coalesce(c.added, 0) as added,
    coalesce(c.gone, 0) as gone, coalesce(c.returned, 0) as returned, coalesce(sum(c.step) over (partition by k.column1 order by r.id), 0) as held
  from _run r cross join (values ${countedKinds}) k left join counted c on c.run = r.id and c.kind = k.column1
  left join baseline b on b.run = r.id)
select run, ended_at, kind, iif(is_known, added, null) as added, iif(is_known, gone, null) as gone,
  iif(is_known, returned, null) as returned, held from counts
where ended_at is not null and pruned_at is null and kind = coalesce(:kind, kind)
order by run desc, kind
limit :limit`,
  },
  {
    name: "newest",
    areas: ["catalogue", "account"],
    title: "Which resources were discovered last?",
    options: [sinceSeen, kind, limit],
    sql: `select kind, name, ${keyOf("known.href")}, state, first_seen_at, href
from known
where kind = coalesce(:kind, kind) and state <> 'gone'
  and (:since is null or first_seen_at >= :since)
order by first_seen_at desc, kind, href
limit :limit`,
  },
  {
    name: "changed",
    areas: ["catalogue", "account"],
    title: "Which resources changed last?",
    options: [sinceSeen, kind, limit],
    sql: `select c.kind, ${keyOf("c.href")}, c.changed_at, c.revision, c.run, c.href
from recently_changed c
where c.revision > 1 and c.kind = coalesce(:kind, c.kind)
  and (:since is null or c.changed_at >= :since)
order by c.changed_at desc, c.href, c.revision desc
limit :limit`,
  },
  {
    name: "gone",
    title: "Which resources are gone from the catalogue, with their last values?",
    options: [sinceSeen, kind, limit],
    sql: `select kind, name, bra_count, gone_at, ${keyOf("one.href")}, href
from (select 'brand' as kind, name, bra_count, gone_at, href from brand
  union all select 'model', coalesce(full_name, name), bra_count, gone_at, href from model
  union all select 'size', size, bra_count, gone_at, href from size) one
where gone_at is not null and kind = coalesce(:kind, kind)
  and (:since is null or gone_at >= :since)
order by gone_at desc, kind, href
limit :limit`,
  },
  {
    name: "bras",
    areas: ["account"],
    title: "Which bras does the user have? With --account.",
    options: [],
    sql: `select name, brand, size, iif(is_owned = 1, 'yes', iif(is_owned = 0, 'no', is_owned)) as owned, note, ${idOf("bra.href")} as key, href
from bra
where gone_at is null
order by brand, model, size, name, href`,
  },
  {
    name: "measurements",
    areas: ["account"],
    title:
      "What are the user's measurements over time? With --account. A row for each measurement and a column for each of its fields, without " +
      "objects, lists and pages; `day` is the earliest date in it.",
    options: [],
    matrix: { down: ["day", "href", "n"], across: "name", value: "value", nullName: "null" },
    sql: `with measured as materialized (
  select href, n, iif(json_valid(payload), payload, '{}') as payload from measurement where gone_at is null),
dated as materialized (
  select href, n, payload, (select min(substr(d.atom, 1, 10)) from json_each(payload) d
    where d.type = 'text' and d.atom glob '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*') as day
  from measured)
select m.day, m.href, m.n, v.key as name, v.atom as value
from dated m left join json_each(m.payload) v
  on v.type not in ('object', 'array') and v.key not glob '*_url' and v.atom is not m.day
order by m.href, m.n, v.id`,
  },
];
