/** Which changes are listed: of some kinds, some brands or models, some fields. */
import { hintAtBrands, isCalled } from "../mirror/find-brands.ts";
import { similarNames, spellings } from "../platform/text/fuzzy-names.ts";
import { type Change, type ChangeWord, changedOrTouched } from "./change.ts";
import type { ComparedKind } from "./compared-kinds.ts";
import { ChangeError } from "./errors.ts";
import type { Item } from "./items.ts";
import type { Named, NamedResources } from "./sources.ts";

/** An empty list means all. */
export interface ChangeFilter {
  readonly kinds: readonly string[];
  /** URLs of brands: changes of these and of their models and sizes. */
  readonly brandHrefs: readonly string[];
  /** URLs of models: changes of these and of their sizes. Absent for all, since ids of feeds are made of a whole filter. */
  readonly modelHrefs?: readonly string[];
  /** Only changes of these fields. `gone_at` changes if a resource is removed or revived; an added one changes no field. */
  readonly fields: readonly string[];
  /** No changes of these fields. */
  readonly ignored: readonly string[];
  /** Only changes of these words, such as added. */
  readonly words: readonly ChangeWord[];
}

export const noFilter: ChangeFilter = { kinds: [], brandHrefs: [], fields: [], ignored: [], words: [] };

/** A filter as a person writes it. */
export interface FilterInput {
  /** Names of tables, such as `model`. Default, as of the others: all. */
  readonly kinds?: readonly string[];
  /** Each a URL, or a slug or name in any spelling. */
  readonly brands?: readonly string[];
  /** Each a URL, a key such as `brand/model`, or a slug, code or name in any spelling. */
  readonly models?: readonly string[];
  /** Only changes of these fields: names such as `bra_count`, or the words that pages show for them. */
  readonly fields?: readonly string[];
  /** No changes of these fields. */
  readonly ignored?: readonly string[];
  /** Only changes of these words, such as `added`. */
  readonly words?: readonly ChangeWord[];
}

/**
 * @param named those of what is compared; read only if the filter names one
 * @throws ChangeError `unknown-name`
 */
export function parseFilter(
  input: FilterInput,
  kinds: readonly ComparedKind[],
  named: NamedResources,
): ChangeFilter {
  const { fields = [], ignored = [], models = [] } = input;
  const kindNames = kinds.map(({ name }) => name);
  const fieldNames = new Set(
    kinds.flatMap((kind) => [...kind.fields, ...(kind.hasTombstones ? ["gone_at"] : [])]),
  );
  for (const name of input.kinds ?? []) requireKnown("kind", name, kindNames);
  const lists = kinds.flatMap((kind) => kind.lists);
  const meant = (name: string) => findField(name, [...fieldNames]) ?? name;
  for (const name of [...fields, ...ignored].map(meant)) {
    const list = lists.find(({ table }) => table === name);
    requireKnown("field", name, [...fieldNames], list && `The service calls this field ${list.field}.`);
  }
  return {
    kinds: input.kinds ?? [],
    brandHrefs: (input.brands ?? []).flatMap((name) => findHrefs("brand", name, [...named.brands()])),
    ...(models.length > 0 && {
      modelHrefs: models.flatMap((name) => findHrefs("model", name, [...named.models()])),
    }),
    fields: fields.map(meant),
    ignored: ignored.map(meant),
    words: input.words ?? [],
  };
}

/**
 * The field of this name, or of the words that pages show for it: `Bra count` is `bra_count`, and `discontinued` is
 * `is_discontinued`. Null if there is none, or several.
 */
export function findField(text: string, fields: readonly string[]): string | null {
  if (fields.includes(text)) return text;
  const name = text.trim().toLowerCase().replaceAll(/\s+/g, "_");
  const found = [name, `is_${name}`, `${name}_href`].filter((one) => fields.includes(one));
  return found.length === 1 ? (found[0] ?? null) : null;
}

export function isOfKind({ kinds }: ChangeFilter, { name }: ComparedKind): boolean {
  return kinds.length === 0 || kinds.includes(name);
}

/** Fields that `isOfChosen` reads. */
export const fieldsOfChoice = ({ brandHrefs, modelHrefs }: ChangeFilter): string[] => [
  ...(brandHrefs.length > 0 ? ["brand_href"] : []),
  ...(modelHrefs === undefined ? [] : ["model_href"]),
];

/** Whether an item belongs to the brands and models of the filter. */
export function isOfChosen(
  { brandHrefs, modelHrefs }: ChangeFilter,
  { name, fields }: ComparedKind,
  item: Item,
): boolean {
  const isOf = (owner: "brand" | "model", hrefs: readonly string[]) => {
    const href = name === owner ? item.href : item.values[fields.indexOf(`${owner}_href`)];
    return typeof href === "string" && hrefs.includes(href);
  };
  return (
    (brandHrefs.length === 0 || isOf("brand", brandHrefs)) &&
    (modelHrefs === undefined || isOf("model", modelHrefs))
  );
}

/** The change with only the fields that pass the filter; null if it does not pass. */
export function filterChange(
  filter: ChangeFilter,
  kind: Pick<ComparedKind, "isWhole">,
  change: Change,
): Change | null {
  const filtered = filterFields(filter, kind, change);
  const { words } = filter;
  return filtered !== null && (words.length === 0 || words.includes(filtered.change)) ? filtered : null;
}

function filterFields(
  { fields, ignored }: ChangeFilter,
  kind: Pick<ComparedKind, "isWhole">,
  change: Change,
): Change | null {
  if (fields.length === 0 && ignored.length === 0) return change;
  if (change.change === "added") return fields.length === 0 ? change : null;
  const passes = (field: string) =>
    (fields.length === 0 || fields.includes(field)) && !ignored.includes(field);
  const passing = change.fields.filter(({ field }) => passes(field));
  const isOfTombstone = change.change === "removed" || change.change === "revived";
  if (isOfTombstone && passes("gone_at")) return { ...change, fields: passing };
  if (passing.length === 0) return null;
  const { kind: name, href, name: title } = change;
  // With other fields filtered out, a removal may be reduced to the change of a field, and a change to its time.
  return { kind: name, href, name: title, change: changedOrTouched(passing, kind), fields: passing };
}

function requireKnown(
  noun: string,
  name: string,
  known: readonly string[],
  hint = known.length === 1 ? `The only one is ${known[0]}.` : `Known: ${known.join(", ")}.`,
): void {
  if (known.includes(name)) return;
  throw new ChangeError("unknown-name", `There is no ${noun} ${JSON.stringify(name)} to compare.`, hint);
}

/** Several may share a name: then all of them are selected. */
function findHrefs(noun: "brand" | "model", text: string, resources: readonly Named[]): string[] {
  const matchers = [
    ({ href }: Named) => href === text,
    // The name of another resource may be the same text as a key.
    ({ names }: Named) => names.at(-1) === text,
    ...spellings.map((spell) => {
      const isMeant = isCalled(text, spell);
      return ({ names }: Named) => isMeant(names);
    }),
  ];
  for (const matches of matchers) {
    const found = resources.filter(matches);
    if (found.length > 0) return [...new Set(found.map(({ href }) => String(href)))];
  }
  const similar = similarNames(
    text,
    resources.flatMap(({ names: [name] }) => (typeof name === "string" ? [name] : [])),
    3,
  );
  throw new ChangeError(
    "unknown-name",
    `There is no ${noun} called ${JSON.stringify(text)} to compare.`,
    noun === "model" && similar.length === 0
      ? '`armoire query "select full_name from model"` lists the models of the mirror.'
      : hintAtBrands(similar),
  );
}
