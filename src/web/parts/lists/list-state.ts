/** The state of a list in a URL: its text, facets, order and place. */
import type { Cell } from "../../../../schema/fields.ts";
import { anyValue, chosenValue, type List, type ListRequest } from "../../../query/lists/list.ts";
import { findIds } from "../../../query/search.ts";
import type { LinkQuery, View } from "../../page.ts";
import type { FacetOptions } from "./facets.ts";
import { readPageKey, type Sorting } from "./table.ts";

export interface ListState {
  readonly request: ListRequest;
  /** Words that all rows have in their names; empty for all rows. */
  readonly text: string;
  /** The address of the same list with these parameters changed, from its first row. */
  readonly hrefOf: (changes: LinkQuery) => string;
  readonly sorting: Sorting;
}

export interface ListDefaults {
  readonly sort: string;
  readonly isDescending: boolean;
}

/** The value in a URL that stands for all values of a facet with a default. */
const anyText = "any";

export function readListState(
  view: View,
  list: List,
  defaults: ListDefaults,
  chosen: Pick<ListRequest, "where" | "ids"> = {},
): ListState {
  const { query, mirror } = view;
  const text = query.get("q")?.trim() ?? "";
  const given = query.get("sort") ?? "";
  const sort = Object.hasOwn(list.sorts, given) ? given : defaults.sort;
  const order = query.get("order");
  const isDescending = order === null ? sort === defaults.sort && defaults.isDescending : order === "desc";
  const found = text === "" ? null : findIds(mirror, text);
  const request: ListRequest = {
    ...chosen,
    sort,
    isDescending,
    facets: Object.fromEntries(Object.keys(list.facets).flatMap((name) => readFacet(query, list, name))),
    ids: both(found, chosen.ids ?? null),
    after: readPageKey(query.get("after")),
  };
  const current = Object.fromEntries([...query].filter(([name]) => name !== "as-of" && name !== "after"));
  const hrefOf = (changes: LinkQuery) => view.link(view.path, { ...current, ...changes });
  return {
    request,
    text,
    hrefOf,
    sorting: {
      sort,
      isDescending,
      hrefOf: (name, descending) => hrefOf({ sort: name, order: descending ? "desc" : "asc" }),
    },
  };
}

function both(a: readonly number[] | null, b: readonly number[] | null): readonly number[] | null {
  if (a === null || b === null) return a ?? b;
  const known = new Set(b);
  return a.filter((id) => known.has(id));
}

/** An empty text stands for null. */
function readFacet(query: URLSearchParams, list: List, name: string): [string, Cell | typeof anyValue][] {
  const text = query.get(name);
  if (text === null) return [];
  if (text === anyText && list.facets[name]?.default !== null) return [[name, anyValue]];
  return [[name, text === "" ? null : text]];
}

/** A facet of a list as `facets` shows it. */
export function facetOf(
  list: List,
  { request, hrefOf }: ListState,
  name: string,
  label: string,
  values: FacetOptions["values"],
): FacetOptions {
  const chosen = chosenValue(list, request, name);
  const isDefault = (value: Cell) => list.facets[name]?.default === value && value !== null;
  const hasDefault = list.facets[name]?.default !== null;
  const textOf = (value: Cell | undefined): string | null => {
    if (value === undefined) return hasDefault ? anyText : null;
    return value === null ? "" : isDefault(value) ? null : String(value);
  };
  return {
    label,
    values,
    chosen: chosen === anyValue ? undefined : chosen,
    hrefOf: (value) => hrefOf({ [name]: textOf(value) }),
  };
}
