/** Questions about sizes. The label of a size has a meaning only in a sizing system: by default, its brand's. */
import { keyOfBrand, keyOfModel, keyOfSize } from "../../../schema/views/resource-key.ts";
import { countOrNull, withoutModels } from "./brands.ts";
import { bands, brand, cups, isOfBrand, limit, type Question, size, system } from "./question.ts";

/** SQL for the label of a size `s` of a brand `b` in the option `system`, or in the brand's own system. */
const labelInSystem = `case when :system is null or b.default_sizing_system = :system collate nocase then s.size
  else (select value from json_each(s.alternative_sizes) where key = :system collate nocase) end`;

/** SQL for the position of an end of the range in the option `cup`. */
const cupPosition = (end: 0 | 1): string =>
  `(select position from cup_order where system = upper(:system) and cup = :cup ->> ${end})`;

/** SQL for whether a label `l` is of the options `system`, `band` and `cup`. */
const isInRange = `l.system = :system collate nocase and l.band is not null
  and (:band is null or l.band between coalesce(:band ->> 0, 0) and coalesce(:band ->> 1, 1000))
  and (:cup is null or l.cup_position between coalesce(${cupPosition(0)}, 1)
    and coalesce(${cupPosition(1)}, 1000))`;

/** SQL for the distribution of models and bras over bands or cups. @param order SQL for the order within a system */
function distribution(column: "band" | "cup", order: string): string {
  return `select b.default_sizing_system as system, s.${column}, count(distinct s.model_href) as models,
  sum(s.bra_count) as bra_count,
  round(100.0 * sum(s.bra_count)
    / sum(sum(s.bra_count)) over (partition by b.default_sizing_system), 1) as percent
from size_current s left join brand b on b.href = s.brand_href
where ${isOfBrand("s.brand_href")}
  and (:system is null or b.default_sizing_system = :system collate nocase)
group by b.default_sizing_system, s.${column}
order by b.default_sizing_system, ${order}`;
}

export const sizeQuestions: readonly Question[] = [
  {
    name: "brand-sizes",
    title: "Which sizes does a brand have, in how many models, and in how many that are still made?",
    options: [{ ...brand, isRequired: true }],
    sql: `select b.name as brand, s.size, s.band, s.cup, count(distinct s.model_href) as models,
  count(distinct m.href) filter (where m.is_discontinued = 0) as still_made, sum(s.bra_count) as bra_count
from size_current s left join brand b on b.href = s.brand_href
  left join model m on m.href = s.model_href
where ${isOfBrand("s.brand_href")}
group by s.brand_href, s.size, s.band, s.cup
order by s.brand_href, s.band, s.cup, s.size`,
  },
  {
    name: "brand-size-labels",
    title:
      "Which labels do the sizes of a brand have in each sizing system, and how many models come in them?",
    options: [{ ...brand, isRequired: true }],
    matrix: {
      ...{ down: ["size", "models", "brand"], across: "system", value: "labels", nullName: "unknown system" },
      isOrdered: true,
    },
    sql: `with own as materialized (
  select s.href, s.size, s.band, s.cup, s.model_href, s.brand_href, b.name as brand, o.position
  from size_current s left join brand b on b.href = s.brand_href
    left join cup_order o on o.system = upper(b.default_sizing_system) and o.cup = upper(s.cup)
  where ${isOfBrand("s.brand_href")}),
counted as (select brand_href, size, count(distinct model_href) as models from own group by brand_href, size)
select own.size, c.models, own.brand, l.system, group_concat(distinct l.label) as labels
from own join counted c on c.brand_href is own.brand_href and c.size is own.size
  left join size_label l on l.href = own.href
group by own.brand_href, own.size, l.system
order by own.brand_href, min(own.band), min(own.position), min(own.cup), own.size, l.system`,
  },
  {
    name: "top-sizes",
    title:
      "Which sizes of each sizing system do users own the most bras in? A brand counts in its default system only.",
    options: [brand, system, limit],
    sql: `select b.default_sizing_system as system, s.size, sum(s.bra_count) as bra_count,
  count(distinct s.model_href) as models, count(distinct s.brand_href) as brands
from size_current s left join brand b on b.href = s.brand_href
where ${isOfBrand("s.brand_href")}
  and (:system is null or b.default_sizing_system = :system collate nocase)
group by b.default_sizing_system, s.size
order by sum(s.bra_count) desc, system, s.size
limit :limit`,
  },
  {
    name: "models-in-size",
    title: "Which models come in a size? Its label is that of the brand's own sizing system, or of --system.",
    options: [size, system, brand],
    sql: `select b.name as brand, coalesce(m.full_name, m.name) as model, m.type, m.is_discontinued, s.size,
  s.bra_count, ${keyOfSize("s", "m")} as key, s.href
from size_current s left join model m on m.href = s.model_href
  left join brand b on b.href = s.brand_href
where (${labelInSystem}) = :size collate nocase
  and ${isOfBrand("s.brand_href")}
order by cast(s.bra_count as real) desc, s.href`,
  },
  {
    name: "models-in-range",
    title:
      "Which models come in a range of bands and cups of a sizing system? Labels that are not a number and a cup are left out.",
    options: [{ ...system, isRequired: true }, bands, cups, brand],
    sql: `select b.name as brand, coalesce(m.full_name, m.name) as model, m.type, m.is_discontinued, count(*) as sizes,
  group_concat(l.label, ' ' order by l.band, l.cup_position, l.cup) as labels,
  ${keyOfModel("m")} as key, l.model_href as href
from size_label l left join model m on m.href = l.model_href
  left join brand b on b.href = l.brand_href
where ${isInRange}
  and ${isOfBrand("l.brand_href")}
group by l.model_href
order by brand, model, href`,
  },
  {
    name: "brands-in-range",
    title:
      "Which brands have at least one size in a range of bands and cups of a sizing system, and how many models come in it? " +
      "`sizes` counts the brand's labels in the range, and `of_sizes` those of all brands. Labels that are not a number and a cup are left out.",
    options: [{ ...system, isRequired: true }, bands, cups, brand],
    sql: `with found as materialized (
  select l.brand_href as href, l.model_href, l.label, l.band, l.cup_position, l.cup from size_label l
  where ${isInRange}),
label as (select href, label, band, cup_position, cup from found group by href, label)
select b.name as brand, count(*) as sizes, (select count(distinct label) from found) as of_sizes,
  (select count(distinct f.model_href) from found f where f.href = label.href) as models,
  group_concat(label.label, ' ' order by label.band, label.cup_position, label.cup) as labels,
  ${keyOfBrand("b")} as key, label.href
from label left join brand b on b.href = label.href
where ${isOfBrand("label.href")}
group by label.href
order by sizes desc, models desc, label.href`,
  },
  {
    name: "size-coverage",
    title:
      "How many models come in each band and cup of a sizing system? A row for each band, a column for each cup; the column " +
      "`other` counts models with labels that are not a number and a cup.",
    options: [{ ...system, isRequired: true }, brand],
    matrix: { down: ["band"], across: "cup", value: "models", nullName: "other" },
    sql: `select l.band, l.cup, count(distinct l.model_href) as models
from size_label l
where l.system = :system collate nocase
  and ${isOfBrand("l.brand_href")}
group by l.band, l.cup
order by l.cup_position nulls last, l.cup nulls last, l.band nulls last`,
  },
  {
    name: "size-conversions",
    title:
      "What is the label of a size in the other sizing systems, and how many sizes say so? Of brands whose usual system is the " +
      "given one.",
    options: [size, { ...system, isRequired: true }],
    sql: `select other.key as system, other.value as size, count(*) as said_by
from size_current s join brand b on b.href = s.brand_href, json_each(s.alternative_sizes) other
where b.default_sizing_system = :system collate nocase and s.size = :size collate nocase
group by other.key, other.value
order by other.key, said_by desc, other.value`,
  },
  {
    name: "sizing-systems",
    title:
      "How many brands, models, sizes and bras use each sizing system? A number is null if nothing of it is fetched.",
    options: [],
    sql: `${withoutModels}, per_brand as materialized (
  select b.default_sizing_system as system, b.bra_count, ${countOrNull("distinct m.href")} as models,
    count(s.href) as sizes
  from brand_current b left join model_current m on m.brand_href = b.href
    left join size_current s on s.model_href = m.href
  group by b.href)
select system, count(*) as brands, sum(models) as models,
  iif(sum(models) = 0, 0, nullif(sum(sizes), 0)) as sizes, sum(bra_count) as bra_count
from per_brand
group by system
order by brands desc, system`,
  },
  {
    name: "bands",
    title:
      "How are models and bras distributed over the bands of each sizing system? A brand counts in its default system only.",
    options: [brand, system],
    sql: distribution("band", "s.band"),
  },
  {
    name: "cups",
    title:
      "How are models and bras distributed over the cups of each sizing system? A brand counts in its default system only.",
    options: [brand, system],
    sql: distribution(
      "cup",
      `(select position from cup_order o
  where o.system = upper(b.default_sizing_system) and o.cup = upper(s.cup)) nulls last, s.cup`,
    ),
  },
];
