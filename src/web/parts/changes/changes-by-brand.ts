/** Changes grouped by the brand that they belong to, with values before and after side by side. */
import { html } from "hono/html";
import type { Change, Value } from "../../../change/change.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import { type OwnerNames, readOwnerNames } from "../../../query/lists/owner-names.ts";
import { type ResourceKey, readResourceKeys } from "../../../query/lists/resource-keys.ts";
import type { Html, View } from "../../page.ts";
import { fieldChanges } from "../resource/field-changes.ts";
import { nameOf, pathOf, resourceLink } from "../values.ts";

interface Located {
  readonly change: Change;
  readonly key: ResourceKey | undefined;
  readonly names: OwnerNames | undefined;
}

export function changesByBrand(view: View, changes: readonly Change[]): Html {
  const hrefs = changes.map(({ href }) => href);
  const keys = readResourceKeys(view.mirror, hrefs);
  const names = readOwnerNames(view.mirror, hrefs);
  const located = changes.map(
    (change): Located => ({ change, key: keys.get(change.href), names: names.get(change.href) }),
  );
  const groups = [...Map.groupBy(located, ({ names: of }) => of?.brandHref ?? null)].sort(([, a], [, b]) =>
    compareNames(a, b),
  );
  return html`${groups.map(([brand, group]) => groupOf(view, brand, group))}`;
}

/** Changes without a known brand come last. */
function compareNames(a: readonly Located[], b: readonly Located[]): number {
  const [keyOfA, keyOfB] = [a[0]?.key, b[0]?.key];
  if (keyOfA === undefined || keyOfB === undefined)
    return Number(keyOfA === undefined) - Number(keyOfB === undefined);
  return (brandIn(a) ?? keyOfA.brand).localeCompare(brandIn(b) ?? keyOfB.brand, "en");
}

/** A brand that has changed has the name of then, as its change has; later it may have got another one. */
function brandIn(group: readonly Located[]): string | null {
  const own = group.find(({ change }) => change.kind === "brand")?.change.name;
  return typeof own === "string" ? own : (group[0]?.names?.brand ?? null);
}

function groupOf(view: View, brandHref: string | null, group: readonly Located[]): Html {
  const [first] = group;
  const title =
    brandHref === null || first?.key === undefined
      ? "Without a known brand"
      : resourceLink(view, { kind: "brand", brand: first.key.brand }, brandIn(group), brandHref);
  return html`<section><h2>${title} <span class="muted">${formatCount(group.length, "change")}</span></h2>
<ol class="timeline">${entriesOf(group).map((alike) => entryOf(view, alike))}</ol></section>`;
}

/** Sizes of one model to which the same has happened share an entry: a new model often comes with dozens of them. */
interface Entry extends Located {
  /** What the changes of this entry happened to. */
  readonly labels: Value[];
}

function entriesOf(group: readonly Located[]): Entry[] {
  const entries: Entry[] = [];
  for (const one of group) {
    const last = entries.at(-1);
    if (last !== undefined && areAlike(last, one)) last.labels.push(one.change.name);
    else entries.push({ ...one, labels: [one.change.name] });
  }
  return entries;
}

const areAlike = (a: Located, b: Located): boolean =>
  [a, b].every(({ change }) => change.kind === "size" && fieldsOf(change).length === 0) &&
  a.change.change === b.change.change &&
  a.key?.kind === "model" &&
  b.key?.kind === "model" &&
  pathOf(a.key) === pathOf(b.key);

const fieldsOf = (change: Change) => ("fields" in change ? change.fields : []);

const classes = { added: "new", revived: "new", removed: "gone", changed: "changed", touched: "changed" };

function entryOf(view: View, entry: Entry): Html {
  const { kind, change: word } = entry.change;
  const fields = fieldsOf(entry.change);
  const count = entry.labels.length;
  return html`
<li class="${classes[word]}"><p class="when"><strong>${word}</strong> ${linkOf(view, entry)} <span class="muted">${
    count === 1 ? formatKind(kind) : formatCount(count, formatKind(kind))
  }</span></p>${fields.length === 0 ? "" : fieldChanges(kind, fields)}</li>`;
}

/** A size is shown on the page of its model. */
function linkOf(view: View, { change: { kind, href }, key, names, labels }: Entry): Html {
  const own = labels.map((label) => (label === null || typeof label === "object" ? null : label));
  if (kind !== "size") return resourceLink(view, key, own[0] ?? null, href);
  const sorted = own.toSorted((a, b) => String(a).localeCompare(String(b), "en", { numeric: true }));
  return html`${resourceLink(view, key, names?.model ?? null)} ${sorted.map((label, n) => html`${n === 0 ? "" : ", "}${nameOf(label)}`)}`;
}
