/** The lists of brands and of models, as far as a mirror holds them. */
import type { List } from "./list.ts";

const isGone = "iif(exists (select 1 from _resource where id = t.id and state = 'gone'), 'gone', 'current')";
const goneAt = "(select started_at from _run where id = r.gone_run)";
/** Few are gone, and an index leads to them. The views of the past have no index. */
const isGoneNow = `iif(t.id in (select id from _resource where kind in ('brand', 'model') and state = 'gone'), 'gone', 'current')`;
const gone = { value: isGone, presentValue: isGoneNow, default: "current" } as const;

const currentModels = `(select count(*) from _model m join _resource x on x.id = m.id and x.state <> 'gone'
  where m.brand_id = t.id)`;

export const brandList: List = {
  from: "_brand t",
  columns: {
    name: "t.name",
    slug: "t.slug",
    system: "t.default_sizing_system",
    models: currentModels,
    bra_count: "t.bra_count",
    last_modified_at: "t.last_modified_at",
    gone_at: goneAt,
    href: "r.url",
  },
  sorts: {
    bra_count: "cast(t.bra_count as integer)",
    name: "t.name collate nocase",
    models: currentModels,
    system: "t.default_sizing_system collate nocase",
    last_modified_at: "t.last_modified_at",
  },
  facets: { system: { value: "t.default_sizing_system", default: null }, gone },
};

const ofBrand = (column: string) => `(select ${column} from _brand where id = t.brand_id)`;
const discontinued = "case t.is_discontinued when 1 then 'yes' when 0 then 'no' end";

export const modelList: List = {
  from: "_model t",
  columns: {
    name: "coalesce(t.full_name, t.name)",
    brand: ofBrand("name"),
    type: "t.type",
    system: ofBrand("default_sizing_system"),
    sizes: "(select count(*) from _size s where s.model_id = t.id)",
    bra_count: "t.bra_count",
    is_discontinued: "t.is_discontinued",
    code: "t.code",
    slug: "t.slug",
    brand_slug: `coalesce(${ofBrand("slug")}, t.brand_slug)`,
    last_modified_at: "t.last_modified_at",
    gone_at: goneAt,
    href: "r.url",
  },
  sorts: {
    bra_count: "cast(t.bra_count as integer)",
    name: "coalesce(t.full_name, t.name) collate nocase",
    brand: `${ofBrand("name")} collate nocase`,
    type: "t.type collate nocase",
    sizes: "(select count(*) from _size s where s.model_id = t.id)",
    last_modified_at: "t.last_modified_at",
  },
  facets: {
    type: { value: "t.type", default: null },
    discontinued: { value: discontinued, default: null },
    system: { value: ofBrand("default_sizing_system"), default: null },
    gone,
  },
};
