/** `/me`: the bras of an account as a gallery, with filters; two of them can be compared. */
import { html } from "hono/html";
import { formatCount } from "../../../presentation/numbers.ts";
import type { Bra } from "../../../query/lists/wardrobe.ts";
import type { Html, Page, View } from "../../page.ts";
import { pointField } from "../../parts/point-field.ts";
import { lastAndNext } from "../../parts/runs/last-and-next.ts";
import { empty } from "../../parts/states.ts";
import { gallery } from "../../parts/wardrobe/gallery.ts";
import { isGone } from "../../parts/wardrobe/summary.ts";
import { accountHeading, accountOf, addressesIn, wardrobeOf } from "./account-view.ts";

export const galleryPage: Page = {
  path: "/me",
  navigation: "My bras",
  area: "account",
  render(view) {
    const wardrobe = wardrobeOf(view);
    const bras = filtered(view, wardrobe.bras);
    const body = html`${accountHeading(view, wardrobe)}
${lastAndNext(view)}
<h2 class="visually-hidden">Gallery</h2>
${filterForm(view, wardrobe.bras)}
<p class="count">${formatCount(bras.length, "bra")}${isFiltered(view) ? html` · <a href="${view.link("/me")}">Clear the filters</a>` : ""}</p>
${
  bras.length === 0
    ? empty(isFiltered(view) ? "No bra has all of this." : "No bras are held.", emptyHint(view))
    : html`<form action="/me/compare">${pointField(view.link, "/me/compare")}
${gallery(bras, addressesIn(view), true)}
<p class="actions"><button>Compare the chosen bras</button></p></form>`
}`;
    return { title: "My bras", body };
  },
  rows(view) {
    const bras = filtered(view, wardrobeOf(view).bras);
    const columns = Object.keys(bras[0]?.fields ?? { href: null });
    return {
      name: "bras",
      from: ["bra"],
      columns,
      rows: () => bras.map(({ fields }) => columns.map((name) => fields[name] ?? null)),
    };
  },
};

const filterNames = ["q", "owned", "brand", "state"];

const isFiltered = ({ query }: View): boolean => filterNames.some((name) => (query.get(name) ?? "") !== "");

function filtered({ query }: View, bras: readonly Bra[]): Bra[] {
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const [owned, brand, state] = [query.get("owned"), query.get("brand"), query.get("state")];
  return bras.filter((bra) => {
    const { fields } = bra;
    const text = [fields.name, fields.brand, fields.model, fields.size, fields.note].join(" ").toLowerCase();
    if (!words.every((word) => text.includes(word))) return false;
    if (owned && String(fields.is_owned) !== (owned === "yes" ? "1" : "0")) return false;
    if (brand && fields.brand !== brand) return false;
    return !state || isGone(bra) === (state === "gone");
  });
}

function filterForm(view: View, bras: readonly Bra[]): Html {
  const brands = [
    ...new Set(bras.flatMap(({ fields: { brand } }) => (brand == null ? [] : [String(brand)]))),
  ];
  const hasGone = bras.some(isGone);
  return html`<form class="filter wide" action="/me" role="search" aria-label="Filter of the bras">
<input type="search" name="q" value="${view.query.get("q") ?? ""}" placeholder="Name, size or note" aria-label="Only bras with these words" autocomplete="off">
${choice(view, "owned", "Owned or not", [
  ["yes", "owned"],
  ["no", "not owned"],
])}
${choice(
  view,
  "brand",
  "All brands",
  brands.map((brand) => [brand, brand] as const),
)}
${
  hasGone
    ? choice(view, "state", "Here or gone", [
        ["here", "at the service"],
        ["gone", "gone at the service"],
      ])
    : ""
}
${pointField(view.link, "/me")}<button>Filter</button></form>`;
}

function choice(
  view: View,
  name: string,
  all: string,
  options: readonly (readonly [string, string])[],
): Html {
  const chosen = view.query.get(name);
  return html`<select name="${name}" aria-label="${all}"><option value="">${all}</option>${options.map(
    ([value, label]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ""}>${label}</option>`,
  )}</select>`;
}

const emptyHint = (view: View): Html | string =>
  isFiltered(view)
    ? ""
    : html`<code>armoire sync --account ${accountOf(view).name}</code> fetches what the token may see.`;
