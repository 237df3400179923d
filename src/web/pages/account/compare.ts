/** `/me/compare?bra=KEY&bra=KEY`: bras side by side, dimension by dimension. */
import { html } from "hono/html";
import type { Bra } from "../../../query/lists/wardrobe.ts";
import type { Page, View } from "../../page.ts";
import { empty } from "../../parts/states.ts";
import { dimensionComparison } from "../../parts/wardrobe/dimensions.ts";
import { gallery } from "../../parts/wardrobe/gallery.ts";
import { accountHeading, addressesIn, dimensionRows, findBra, wardrobeOf } from "./account-view.ts";

/** More columns are no comparison that a person reads. */
const maxBras = 6;

export const compareBrasPage: Page = {
  path: "/me/compare",
  area: "account",
  render(view) {
    const wardrobe = wardrobeOf(view);
    const bras = brasIn(view);
    const addresses = addressesIn(view);
    const body = html`${accountHeading(view, wardrobe)}
<h2>Side by side</h2>
${
  bras.length < 2
    ? empty("Choose two bras or more to compare.", html`<a href="${view.link("/me")}">To the gallery</a>`)
    : html`${gallery(bras, addresses, false)}${dimensionComparison(bras, addresses.hrefOf)}`
}`;
    return { title: "Side by side", body, hasRows: bras.length > 1 };
  },
  rows: (view) => ({ name: "bras", from: ["bra"], ...dimensionRows(brasIn(view)) }),
};

function brasIn(view: View): Bra[] {
  const keys = [...new Set(view.query.getAll("bra"))].slice(0, maxBras);
  return keys.map((key) => findBra(wardrobeOf(view), key));
}
