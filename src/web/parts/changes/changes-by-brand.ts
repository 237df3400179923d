/** Changes grouped by the brand that they belong to, with values before and after side by side. */
import { html } from "hono/html";
import type { Change } from "../../../change/change.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import { type OwnerNames, readOwnerNames } from "../../../query/lists/owner-names.ts";
import { type ResourceKey, readResourceKeys } from "../../../query/lists/resource-keys.ts";
import type { Html, View } from "../../page.ts";
import { fieldChanges } from "../resource/field-changes.ts";
import { nameOf, resourceLink } from "../values.ts";

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
  const groups = [...Map.groupBy(located, ({ names: of }) => of?.brandHref ?? null)].sort(
    ([, [a]], [, [b]]) => compareNames(a, b),
  );
  return html`${groups.map(([brand, group]) => groupOf(view, brand, group))}`;
}

/** Changes without a known brand come last. */
function compareNames(a: Located | undefined, b: Located | undefined): number {
  if (a?.key === undefined || b?.key === undefined)
    return Number(a?.key === undefined) - Number(b?.key === undefined);
  return (a.names?.brand ?? a.key.brand).localeCompare(b.names?.brand ?? b.key.brand, "en");
}

function groupOf(view: View, brandHref: string | null, group: readonly Located[]): Html {
  const [first] = group;
  const title =
    brandHref === null || first?.key === undefined
      ? "Without a known brand"
      : resourceLink(view, { kind: "brand", brand: first.key.brand }, first.names?.brand ?? null, brandHref);
  return html`<section><h2>${title} <span class="muted">${formatCount(group.length, "change")}</span></h2>
<ol class="timeline">${group.map((one) => entryOf(view, one))}</ol></section>`;
}

function entryOf(view: View, { change, key, names }: Located): Html {
  const { kind, change: word } = change;
  const fields = "fields" in change ? change.fields : [];
  return html`
<li${word === "removed" ? html` class="gone"` : ""}><p class="when"><strong>${word}</strong> ${linkOf(view, change, key, names)} <span class="muted">${formatKind(kind)}</span></p>${
    fields.length === 0 ? "" : fieldChanges(kind, fields)
  }</li>`;
}

/** A size is shown on the page of its model. */
function linkOf(
  view: View,
  { kind, name, href }: Change,
  key: ResourceKey | undefined,
  names: OwnerNames | undefined,
): Html {
  const own = name === null || typeof name === "object" ? null : name;
  if (kind !== "size") return resourceLink(view, key, own, href);
  return html`${resourceLink(view, key, names?.model ?? null)} ${nameOf(own)}`;
}
