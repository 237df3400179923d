/** Questions about brands. */
import { keyOfBrand } from "../../../schema/views/resource-key.ts";
import { brand, isOfBrand, limit, type Question, sinceSeen } from "./question.ts";

/** Brands that certainly have no models: their list is read, and nothing that it names is still to be fetched. */
export const withoutModels = `with without_models as materialized (
  select owner.url as href from _resource list join _resource owner on owner.id = list.owner_id
    where list.kind = 'models' and list.state = 'held'
  except select owner_href from known where kind = 'model' and state not in ('held', 'gone'))`;

/** Null for a brand `b` of which none is held, though it may have some. @param counted SQL for what is counted */
export const countOrNull = (counted: string): string =>
  `nullif(count(${counted}), iif(b.href in (select href from without_models), -1, 0))`;

const countOfModels = countOrNull("m.href");

export const brandQuestions: readonly Question[] = [
  {
    name: "top-brands",
    title: "Which brands do users own the most bras of?",
    options: [limit],
    sql: `${withoutModels}
select b.name, b.bra_count, ${countOfModels} as models, ${keyOfBrand("b")} as key, b.href
from brand_current b left join model_current m on m.brand_href = b.href
group by b.href
order by cast(b.bra_count as real) desc, b.href
limit :limit`,
  },
  {
    name: "growing-brands",
    title:
      "Which brands have listed new models since a day or a run? Only brands whose list was read completely before it.",
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
    sql: `${withoutModels},
counted as materialized (select b.href, ${countOfModels} as models,
    count(*) filter (where m.is_discontinued = 0) as still_made,
    count(*) filter (where m.is_discontinued = 1) as discontinued, count(distinct m.type) as types
  from brand_current b left join model_current m on m.brand_href = b.href
  where ${isOfBrand("b.href")}
  group by b.href)
select b.name, c.models, iif(c.models is null, null, c.still_made) as still_made,
  iif(c.models is null, null, c.discontinued) as discontinued, iif(c.models is null, null, c.types) as types,
  ${keyOfBrand("b")} as key, b.href
from counted c join brand_current b on b.href = c.href
order by c.models desc, b.href`,
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
