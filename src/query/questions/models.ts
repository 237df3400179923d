/** Questions about models. */
import { keyOfModel } from "../../../schema/views/resource-key.ts";
import { brand, isOfBrand, limit, type Question, sinceReported } from "./question.ts";

export const modelQuestions: readonly Question[] = [
  {
    name: "top-models",
    title: "Which models do users own the most bras of?",
    options: [brand, limit],
    sql: `select b.name as brand, coalesce(m.full_name, m.name) as model, m.type, m.bra_count, ${keyOfModel("m")} as key, m.href
from model_current m left join brand b on b.href = m.brand_href
where ${isOfBrand("m.brand_href")}
order by cast(m.bra_count as real) desc, m.href
limit :limit`,
  },
  {
    name: "model-types",
    title: "How many models, brands and bras are there of each type of model?",
    options: [brand],
    sql: `select m.type, count(*) as models, count(*) filter (where m.is_discontinued = 1) as discontinued,
  count(distinct m.brand_href) as brands, sum(m.bra_count) as bra_count
from model_current m
where ${isOfBrand("m.brand_href")}
group by m.type
order by models desc, m.type`,
  },
  {
    name: "discontinued",
    title:
      "Which models are discontinued? With --since, only those that the service has modified since then.",
    options: [sinceReported, brand],
    sql: `select b.name as brand, coalesce(m.full_name, m.name) as model, m.type, m.bra_count,
  m.last_modified_at, ${keyOfModel("m")} as key, m.href
from model_current m left join brand b on b.href = m.brand_href
where m.is_discontinued = 1
  and (:since is null or m.last_modified_at >= :since)
  and ${isOfBrand("m.brand_href")}
order by m.last_modified_at desc, m.href`,
  },
  {
    name: "related-models",
    title:
      "Which models are most often named by other models, as related or of the same cut? Needs `sync --follow`.",
    options: [brand, limit],
    sql: `select b.name as brand, coalesce(m.full_name, m.name) as model, count(distinct r.href) as named_by,
  count(*) filter (where r.name = 'related') as as_related,
  count(*) filter (where r.name = 'same_cut') as as_same_cut, ${keyOfModel("m")} as key, m.href
from relation r join model_current m on m.href = r.related_href
  join model_current other on other.href = r.href and other.href <> m.href
  left join brand b on b.href = m.brand_href
where ${isOfBrand("m.brand_href")}
group by m.href
order by named_by desc, m.href
limit :limit`,
  },
  {
    name: "models-without-sizes",
    title: "Which models have no fetched size, and how many of their sizes are listed?",
    options: [brand],
    sql: `select b.name as brand, coalesce(m.full_name, m.name) as model, m.bra_count,
  coalesce(listed.sizes, 0) as sizes_listed, ${keyOfModel("m")} as key, m.href
from model_current m left join brand b on b.href = m.brand_href
  left join (select owner_href, count(*) as sizes, sum(state = 'held') as held from known
    where kind = 'size' and state <> 'gone' group by owner_href) listed on listed.owner_href = m.href
where coalesce(listed.held, 0) = 0
  and ${isOfBrand("m.brand_href")}
order by cast(m.bra_count as real) desc, m.href`,
  },
];
