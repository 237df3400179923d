/**
 * The key that people use for a resource: `brand`, `brand/model` or `brand/model/size`, from slugs and the label of the size;
 * of a bra or a measurement the last segment of its URL. `armoire show KIND KEY` takes it. All SQL for keys is here.
 */

/** SQL for the row of a table with this id, as a table expression without an alias. @param id SQL */
type RowSource = (table: "_brand" | "_model" | "_size", id: string) => string;

const shownRow: RowSource = (table, id) => `(select * from ${table} where id = ${id})`;

const brandKey = (id: string, rowOf: RowSource): string =>
  `(select nullif(slug, '') from ${rowOf("_brand", id)})`;

const modelKey = (id: string, rowOf: RowSource): string =>
  `(select nullif(brand_slug, '') || '/' || nullif(slug, '') from ${rowOf("_model", id)})`;

const sizeKey = (id: string, rowOf: RowSource): string =>
  `(select ${modelKey("s.model_id", rowOf)} || '/' || nullif(s.size, '') from ${rowOf("_size", id)} s)`;

/** A size that is only listed is named by the list of its model. */
const listedSizeKey = (resource: string): string =>
  `${modelKey(`(select l.owner_id from _resource l where l.id = ${resource}.owner_id)`, shownRow)} || '/' ||
    (select i.name from _member i where i.item_id = ${resource}.id and i.name is not null limit 1)`;

/** SQL for the last segment of a URL. */
export function idOf(href: string): string {
  const url = `rtrim(${href}, '/')`;
  return `replace(${url}, rtrim(${url}, replace(${url}, '/', '')), '')`;
}

/** @param rowOf null for the rows that the connection shows */
function keyOf(resource: string, rowOf: RowSource, listed: string): string {
  const id = `${resource}.id`;
  const url = `iif(${resource}.state in ('held', 'gone'), ${resource}.url, null)`;
  return `case ${resource}.kind
    when 'brand' then coalesce(${brandKey(id, rowOf)}, ${url})
    when 'model' then coalesce(${modelKey(id, rowOf)}, ${url})
    when 'size' then coalesce(${sizeKey(id, rowOf)}, ${listed}, ${url})
    when 'bra' then ${idOf(`${resource}.url`)} when 'measurement' then ${idOf(`${resource}.url`)} end`;
}

/**
 * SQL for the key of a row of `_resource`. The URL, if slugs are missing; null for a list, the
 * user, and a brand or model that is not fetched yet.
 * @param resource the alias of `_resource`
 */
export const resourceKey = (resource: string): string => keyOf(resource, shownRow, listedSizeKey(resource));

/** The same from the rows of another time. Only for resources that were fetched by then. */
export const resourceKeyFrom = (resource: string, rowOf: RowSource): string => keyOf(resource, rowOf, "null");

/** SQL for the same from rows of public tables, which reads no other table. @param brand the alias of `brand` */
export const keyOfBrand = (brand: string): string => `coalesce(nullif(${brand}.slug, ''), ${brand}.href)`;

/** @param model the alias of `model` */
export const keyOfModel = (model: string): string =>
  `coalesce(nullif(${model}.brand_slug, '') || '/' || nullif(${model}.slug, ''), ${model}.href)`;

/** @param size the alias of `size` @param model that of its model */
export const keyOfSize = (size: string, model: string): string =>
  `coalesce(nullif(${model}.brand_slug, '') || '/' || nullif(${model}.slug, '') || '/' || nullif(${size}.size, ''), ${size}.href)`;
