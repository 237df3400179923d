/** Questions about brands. */
import { keyOfBrand } from "../../../schema/views/resource-key.ts";
import { brand, isOfBrand, limit, type Question, sinceSeen } from "./question.ts";

export const brandQuestions: readonly Question[] = [
  {
    name: "top-brands",
    title: "Which brands do users own the most bras of?",
    options: [limit],
    sql: `select b.name, b.bra_count, count(m.href) as models, ${keyOfBrand("b")} as key, b.href
from brand_current b left join model_current m on m.brand_href = b.href
group by b.href
order by cast(b.bra_count as real) desc, b.href
limit :limit`,
  },
  {
    name: "growing-brands",
    title:
      "Which brands have listed new models since then? Only brands whose list was read completely before.",
    options: [{ ...sinceSeen, isRequired: true }, brand],
    sql: `with listed as materialized (select owner_href,
    count(*) filter (where first_seen_at >= :since and state <> 'gone') as new_models,
    count(*) filter (where state <> 'gone') as models
  from known where kind = 'model' and ${isOfBrand("owner_href")} group by owner_href),
read_before as materialized (
  select brand.url as href from _resource list join _revision body on body.resource_id = list.id and body.seq = 1
    join _run read on read.id = body.from_run join _resource brand on brand.id = list.owner_id
  where list.kind = 'models' and read.started_at < :since),
partly_read as materialized (
  select brand.url as href from _page p join _resource page on page.id = p.id join _run found on found.id = page.first_run
    join _resource list on list.id = p.collection_id and list.kind = 'models' join _resource brand on brand.id = list.owner_id
    left join _revision body on body.resource_id = p.id and body.seq = 1 left join _run read on read.id = body.from_run
  where found.started_at < :since and (read.started_at >= :since or read.id is null and page.state in ('due', 'failed')))
select b.name, listed.new_models, listed.models, ${keyOfBrand("b")} as key, b.href
from listed join brand_current b on b.href = listed.owner_href
where listed.new_models > 0 and b.href in (select href from read_before)
  and b.href not in (select href from partly_read)
order by listed.new_models desc, b.href`,
  },
  {
    name: "brand-models",
    title: "How many models does each brand have, and how many are discontinued?",
    options: [brand],
    sql: `select b.name, count(m.href) as models,
  count(*) filter (where m.is_discontinued = 0) as still_made,
  count(*) filter (where m.is_discontinued = 1) as discontinued, count(distinct m.type) as types, ${keyOfBrand("b")} as key, b.href
from brand_current b left join model_current m on m.brand_href = b.href
where ${isOfBrand("b.href")}
group by b.href
order by models desc, b.href`,
  },
  {
    name: "size-range",
    title: "How wide is the size range of each brand?",
    options: [brand],
    sql: `with range as materialized (select brand_href, count(distinct size) as sizes,
    min(band) as smallest_band, max(band) as largest_band, count(distinct band) as bands,
    count(distinct cup) as cups, count(distinct model_href) as models
  from size_current where ${isOfBrand("brand_href")} group by brand_href)
select b.name, b.default_sizing_system as system, range.sizes, range.smallest_band, range.largest_band,
  range.bands, range.cups, range.models, ${keyOfBrand("b")} as key, b.href
from range join brand_current b on b.href = range.brand_href
order by range.sizes desc, b.href`,
  },
];
