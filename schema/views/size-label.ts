/**
 * The views `cup_order` and `size_label`: the labels of sizes in all sizing systems, taken apart. Plain SQL over stored data,
 * so they work in any SQLite tool and at any point in time.
 */

interface CupOrder {
  /** The labels of the systems, in capitals. */
  readonly systems: readonly string[];
  /** From small to large; several names of one cup are joined by `=`. */
  readonly cups: string;
}

/**
 * As in the size charts of makers. EU: EN 13402-3, whose letters go on in alphabetical order. UK: double letters from D, and
 * no I. US: DD, DDD and DDDD also have the names E, F and G.
 */
const cupOrders: readonly CupOrder[] = [
  {
    systems: ["UK", "GB", "AU", "NZ"],
    cups: "AAA AA A B C D DD E F FF G GG H HH J JJ K KK L LL M MM N NN O OO",
  },
  {
    systems: ["US", "USA"],
    cups: "AAA AA A B C D DD=E=DD/E DDD=F=DDD/F DDDD=G=DDDD/G H I J K L M N O P Q R S T",
  },
  {
    systems: ["EU", "FR", "IT", "DE", "ES", "BE"],
    cups: "AAA AA A B C D E F G H I J K L M N O P Q R S T U V W X Y Z",
  },
];

/** The cups of a sizing system, from small to large; null if their order is unknown. @param system in any case */
export function cupsOf(system: string): readonly string[] | null {
  const order = cupOrders.find(({ systems }) => systems.includes(system.trim().toUpperCase()));
  return order?.cups.split(/[ =]/) ?? null;
}

const ordersAsJson = JSON.stringify(
  cupOrders.map(({ systems, cups }) => ({
    systems,
    cups: cups.split(" ").map((names) => names.split("=")),
  })),
);

const cupOrder = `select s.value as system, c.value as cup, place.key + 1 as position
  from json_each('${ordersAsJson}') o join json_each(o.value, '$.systems') s
    join json_each(o.value, '$.cups') place join json_each(place.value) c`;

const digits = "'0123456789'";

/** SQL: a text is one letter, which may be repeated. */
const isRepeatedLetter = (text: string): string =>
  `${text} glob '[A-Z]*' and trim(${text}, substr(${text}, 1, 1)) = ''`;

/**
 * The own label of a size is in its brand's default system, unless its alternative sizes have another label in that system.
 * Then it is in the system in which they have the same label, if there is one: `70D` of a British brand with `EU: 70D`,
 * `UK: 32D`. Most sizes have the same labels as others, so each distinct text of alternative sizes, and each distinct label,
 * is taken apart once.
 * @param sizes rows of `_size`: of few sizes, the labels are found much faster than in the view
 */
export const sizeLabelsOf = (sizes: string): string => `with
  own as (
    select r.url as href, model.url as model_href, brand.url as brand_href, t.size as label,
      nullif(trim(b.default_sizing_system), '') as system, t.alternative_sizes as others
    from ${sizes} t join _resource r on r.id = t.id and r.gone_run is null
    left join _resource model on model.id = t.model_id left join _model m on m.id = t.model_id
    left join _resource brand on brand.id = m.brand_id left join _brand b on b.id = m.brand_id),
  alternative as materialized (
    select t.others as others, other.key as system, other.atom as label
    from (select distinct alternative_sizes as others from ${sizes}) t
      join json_each(iif(json_valid(t.others), t.others, '{}')) other
    where other.type = 'text' and typeof(other.key) = 'text'),
  distinct_label as materialized (
    select size as label from ${sizes} where typeof(size) = 'text'
    union
    select label from alternative),
  split as (
    select label, rtrim(substr(trim(label), 1, length(trim(label)) - length(ltrim(trim(label), ${digits})))) as digits,
      upper(replace(replace(trim(ltrim(trim(label), ${digits})), ' /', '/'), '/ ', '/')) as letters
    from distinct_label),
  part as materialized (
    select label, cast(digits as integer) as band, letters as cup
    from (select *, iif(instr(letters, '/') = 0, letters, substr(letters, 1, instr(letters, '/') - 1)) as first,
        iif(instr(letters, '/') = 0, letters, substr(letters, instr(letters, '/') + 1)) as last
      from split)
    where digits glob '[1-9]*' and length(digits) <= 3 and ${isRepeatedLetter("first")} and ${isRepeatedLetter("last")}),
  alternative_part as materialized (
    select a.others, a.system, a.label, p.band, p.cup, o.position
    from alternative a left join part p on p.label = a.label
      left join cup_order o on o.system = upper(trim(a.system)) and o.cup = p.cup),
  own_label as (
    select href, model_href, brand_href, label, iif(is_in_brands_system, system, null) as system,
      iif(is_in_brands_system, 'brand', null) as system_from
    from (
      select *, system is not null and not exists (
        select 1 from alternative a where a.others = own.others and trim(a.system) = own.system collate nocase) as is_in_brands_system
      from own where label is not null) labelled
    where is_in_brands_system
      or not exists (select 1 from alternative a where a.others = labelled.others and a.label = labelled.label))
  select own.href as href, own.model_href as model_href, own.brand_href as brand_href, a.system as system, a.label as label,
    a.band as band, a.cup as cup, a.position as cup_position, 'alternative' as system_from
  from own join alternative_part a on a.others = own.others
  union all
  select l.href, l.model_href, l.brand_href, l.system, l.label, p.band, p.cup, o.position, l.system_from
  from own_label l left join part p on p.label = l.label
    left join cup_order o on o.system = upper(trim(l.system)) and o.cup = p.cup`;

export const sizeLabelViews: Readonly<Record<string, string>> = {
  cup_order: cupOrder,
  size_label: sizeLabelsOf("_size"),
};
