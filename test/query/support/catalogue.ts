/** The sandbox's catalogue as plain objects, to compute the results of questions without SQL. */
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface Thing {
  readonly href: string;
  readonly fields: Fields;
  /** A number, even if it is sent as text. */
  readonly bras: number;
}
export type Brand = Thing;
export interface Model extends Thing {
  readonly brand: Brand;
}
export interface Size extends Thing {
  readonly model: Model;
  /** The sizing system of its brand. */
  readonly system: unknown;
}

export interface Catalogue {
  readonly brands: readonly Brand[];
  readonly models: readonly Model[];
  readonly sizes: readonly Size[];
  /** Links between models. */
  readonly relations: readonly { readonly from: string; readonly name: string; readonly to: string }[];
}

export function catalogueOf(sandbox: Sandbox): Catalogue {
  const records = [...sandbox.truth({ optional: true })];
  const thingsOf = (kind: string) =>
    records
      .filter((record) => record.kind === kind)
      .map(({ url, body: { body = {}, links } }) => ({
        ...{ href: url, fields: body, links, bras: Number(body.bra_count) },
      }));
  const brands = thingsOf("brand");
  const models = thingsOf("model").map((model) => ({ ...model, brand: byHref(brands, model.links.brand) }));
  const sizes = thingsOf("size").map((size) => {
    const model = byHref(models, size.links.model);
    return { ...size, model, system: model.brand.fields.default_sizing_system };
  });
  const relations = [
    ["related_models", "related"],
    ["same_cut", "same_cut"],
  ].flatMap(([kind, name = ""]) =>
    records
      .filter((record) => record.kind === kind)
      .flatMap(({ body: { links, collection = [] } }) =>
        collection.map((item) => ({ from: String(links.model), name, to: String(item.href) })),
      ),
  );
  return { brands, models, sizes, relations };
}

function byHref<Item extends Thing>(entities: readonly Item[], href: unknown): Item {
  const found = entities.find((entity) => entity.href === href);
  if (found === undefined) throw new Error(`the sandbox has no ${href}`);
  return found;
}

/** Groups in the order of their first members. */
export function groupsBy<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): readonly Item[][] {
  return [...Map.groupBy(items, (item) => JSON.stringify(keyOf(item))).values()];
}

export const countDistinct = (values: readonly unknown[]): number => new Set(values).size;

export const sumOfBras = (entities: readonly Thing[]): number =>
  entities.reduce((sum, { bras }) => sum + bras, 0);

/** Sorts by several keys, as ORDER BY does; a negated number sorts in descending order. */
export function inOrder<Item>(items: readonly Item[], keysOf: (item: Item) => readonly unknown[]): Item[] {
  return items.toSorted((a, b) => {
    const [left, right] = [keysOf(a), keysOf(b)];
    const at = left.findIndex((key, index) => key !== right[index]);
    return at < 0 ? 0 : (left[at] as string) < (right[at] as string) ? -1 : 1;
  });
}
