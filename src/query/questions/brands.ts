/** Questions about brands. */
import { brand, isOfBrand, limit, sinceSeen } from "./options.ts";
import type { Question } from "./question.ts";

export const brandQuestions: readonly Question[] = [
  {
    name: "top-brands",
    asks: "Which brands do users own most bras of?",
    options: [limit],
    sql: `select b.name, b.bra_count, count(m.href) as models, b.href
from brand_current b left join model_current m on m.brand_href = b.href
group by b.href
order by cast(b.bra_count as real) desc, b.href
limit :limit`,
  },
  {
    name: "growing-brands",
    asks: "Which brands have grown: new models listed since, where others were listed before?",
    options: [{ ...sinceSeen, isRequired: true }, brand],
    sql: `select b.name, count(*) filter (where m.first_seen_at >= :since and m.state <> 'gone') as new_models,
  count(*) filter (where m.state <> 'gone') as models, b.href
from brand_current b join known m on m.owner_href = b.href and m.kind = 'model'
where ${isOfBrand("b.href")}
group by b.href
having new_models > 0 and min(m.first_seen_at) < :since
order by new_models desc, b.href`,
  },
  {
    name: "brand-models",
    asks: "How many models has each brand, and how many of them are discontinued?",
    options: [brand],
    sql: `select b.name, count(m.href) as models,
  count(*) filter (where m.is_discontinued = 0) as still_made,
  count(*) filter (where m.is_discontinued = 1) as discontinued, count(distinct m.type) as types, b.href
from brand_current b left join model_current m on m.brand_href = b.href
where ${isOfBrand("b.href")}
group by b.href
order by models desc, b.href`,
  },
  {
    name: "size-range",
    asks: "How wide is each brand's range of sizes?",
    options: [brand],
    sql: `select b.name, b.default_sizing_system as system, count(distinct s.size) as sizes,
  min(s.band) as smallest_band, max(s.band) as largest_band, count(distinct s.band) as bands,
  count(distinct s.cup) as cups, count(distinct s.model_href) as models, b.href
from brand_current b join size_current s on s.brand_href = b.href
where ${isOfBrand("b.href")}
group by b.href
order by sizes desc, b.href`,
  },
];
