/** Which changes somebody asked for: of some kinds, some brands, some fields. */
import { hintAtBrands, isCalled } from "../mirror/find-brands.ts";
import { similarNames, spellings } from "../platform/fuzzy-names.ts";
import { type Change, changedOrTouched } from "./change.ts";
import type { ComparedKind } from "./compared-kinds.ts";
import { ChangeError } from "./errors.ts";
import type { Brand, DiffSource, Item } from "./sources.ts";

/** An empty list asks for all. */
export interface ChangeFilter {
  readonly kinds: readonly string[];
  /** URLs of brands: these, and what belongs to them. */
  readonly brandHrefs: readonly string[];
  /** Only changes of these fields, `gone_at` for what was removed or revived: what is added has changed in none. */
  readonly fields: readonly string[];
  /** Fields whose changes are left out. */
  readonly ignored: readonly string[];
}

export const noFilter: ChangeFilter = { kinds: [], brandHrefs: [], fields: [], ignored: [] };

/** As a person says it. */
export interface FilterInput {
  readonly kinds?: readonly string[];
  /** Each a URL, or a slug or name in any spelling. */
  readonly brands?: readonly string[];
  readonly fields?: readonly string[];
  readonly ignored?: readonly string[];
}

/** @throws ChangeError `unknown-name` */
export function parseFilter(
  asked: FilterInput,
  kinds: readonly ComparedKind[],
  states: readonly DiffSource[],
): ChangeFilter {
  const { brands = [], fields = [], ignored = [] } = asked;
  const known = [
    ...new Set(kinds.flatMap((kind) => [...kind.fields, ...(kind.hasTombstones ? ["gone_at"] : [])])),
  ];
  for (const name of asked.kinds ?? [])
    requireKnown(
      "kind",
      name,
      kinds.map((kind) => kind.name),
    );
  const lists = kinds.flatMap((kind) => kind.lists);
  for (const name of [...fields, ...ignored]) {
    const list = lists.find(({ table }) => table === name);
    requireKnown("field", name, known, list && `It is the field ${list.field}, as the service calls it.`);
  }
  return {
    kinds: asked.kinds ?? [],
    brandHrefs: brands.flatMap((name) => brandsCalled(name, states)),
    fields,
    ignored,
  };
}

export function isOfKind({ kinds }: ChangeFilter, { name }: ComparedKind): boolean {
  return kinds.length === 0 || kinds.includes(name);
}

export function isOfBrand({ brandHrefs }: ChangeFilter, { name, fields }: ComparedKind, item: Item): boolean {
  if (brandHrefs.length === 0) return true;
  const brand = name === "brand" ? item.href : item.values[fields.indexOf("brand_href")];
  return typeof brand === "string" && brandHrefs.includes(brand);
}

/** The change with those fields that were asked for; null when nothing of it was. What comes or goes has another `gone_at`. */
export function filterFields(
  { fields, ignored }: ChangeFilter,
  kind: Pick<ComparedKind, "isWhole">,
  change: Change,
): Change | null {
  if (fields.length === 0 && ignored.length === 0) return change;
  if (change.change === "added") return fields.length === 0 ? change : null;
  const isAsked = (field: string) =>
    (fields.length === 0 || fields.includes(field)) && !ignored.includes(field);
  const asked = change.fields.filter(({ field }) => isAsked(field));
  if (change.change === "removed" || change.change === "revived")
    return asked.length > 0 || isAsked("gone_at") ? { ...change, fields: asked } : null;
  // The service says that it changed, and of what it changed in nothing was asked for but that.
  return asked.length > 0 ? { ...change, change: changedOrTouched(asked, kind), fields: asked } : null;
}

function requireKnown(
  what: string,
  name: string,
  known: readonly string[],
  hint = known.length === 1 ? `There is ${known[0]} only.` : `There are ${known.join(", ")}.`,
): void {
  if (known.includes(name)) return;
  throw new ChangeError("unknown-name", `There is no ${what} ${JSON.stringify(name)} to compare.`, hint);
}

/** Several brands can have one name: then all of them are meant. */
function brandsCalled(name: string, states: readonly DiffSource[]): string[] {
  const brands = states.flatMap((state) => [...state.brands()]);
  const matches = [(brand: Brand) => brand.href === name, ...spellings.map((spell) => isCalled(name, spell))];
  for (const isMeant of matches) {
    const found = brands.filter(isMeant);
    if (found.length > 0) return [...new Set(found.map(({ href }) => String(href)))];
  }
  const names = brands.flatMap((brand) => (typeof brand.name === "string" ? [brand.name] : []));
  throw new ChangeError(
    "unknown-name",
    `No brand is called ${JSON.stringify(name)} in what is compared.`,
    hintAtBrands(similarNames(name, names, 3)),
  );
}
