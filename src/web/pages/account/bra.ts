/** `/me/bra/KEY`: one bra, with its pictures, sizes, dimensions and history. */
import { html } from "hono/html";
import { readHistory } from "../../../query/history.ts";
import type { Bra } from "../../../query/lists/wardrobe.ts";
import { readProvenance } from "../../../query/provenance.ts";
import type { Html, Page, View } from "../../page.ts";
import { facts } from "../../parts/resource/facts.ts";
import { provenance } from "../../parts/resource/provenance.ts";
import { timeline } from "../../parts/resource/timeline.ts";
import { nameOf } from "../../parts/values.ts";
import { braTags } from "../../parts/wardrobe/gallery.ts";
import { addressesIn, findBra, wardrobeOf } from "./account-view.ts";

export const braPage: Page = {
  path: "/me/bra/:bra",
  area: "account",
  render(view) {
    const bra = braIn(view);
    const { fields, href } = bra;
    const body = html`<nav class="crumbs" aria-label="Breadcrumbs"><a href="${view.link("/me")}">My bras</a></nav>
<div class="title"><h1>${nameOf(fields.name ?? null)}</h1>${braTags(bra)}</div>
${picturesOf(view, bra)}
<div class="columns">
<section aria-labelledby="facts"><h2 id="facts">Facts</h2>${facts("bra", fields, ["href", "name", "brand_href", "model_href", "size_href", "gone_at"])}</section>
<section aria-labelledby="sizes"><h2 id="sizes">In other sizing systems</h2>${sizesOf(bra)}</section>
</div>
<section aria-labelledby="history"><h2 id="history">History</h2>${timeline(view, readHistory(view.mirror, "bra", href))}</section>
<section aria-labelledby="source"><h2 id="source">Where this comes from</h2>${provenance(view, readProvenance(view.mirror, href))}</section>`;
    return { title: String(fields.name ?? "Bra"), body };
  },
  rows(view) {
    const { fields } = braIn(view);
    return { name: "bra", columns: Object.keys(fields), rows: () => [Object.values(fields)] };
  },
};

const braIn = (view: View): Bra => findBra(wardrobeOf(view), view.parameters.bra ?? "");

function picturesOf(view: View, { pictures }: Bra): Html | string {
  const addresses = pictures.map(addressesIn(view).pictureOf).filter((address) => address !== null);
  if (addresses.length === 0) return "";
  return html`<ul class="pictures" aria-label="Pictures">${addresses.map(
    (address, n) => html`<li><a href="${address}"><img src="${address}" alt="Picture ${n + 1}"></a></li>`,
  )}</ul>`;
}

function sizesOf({ sizes }: Bra): Html {
  if (sizes.length === 0) return html`<p class="hint">Not given.</p>`;
  return html`<dl class="facts">${sizes.map(
    ({ system, size }) =>
      html`<div><dt>${nameOf(system, "no system")}</dt><dd>${nameOf(size, "none")}</dd></div>`,
  )}</dl>`;
}
