/** Bras as cards: a picture or the size in its place, name, brand, and what is special about it. */
import { html } from "hono/html";
import type { Bra, BraPicture } from "../../../query/lists/wardrobe.ts";
import type { Html } from "../../page.ts";
import { dayOf, nameOf } from "../values.ts";
import { isGone } from "./summary.ts";

export interface BraAddresses {
  readonly hrefOf: (bra: Bra) => string;
  /** Null for a picture that is not there. */
  readonly pictureOf: (picture: BraPicture) => string | null;
}

/** @param isChoice whether cards can be chosen, in a form around them */
export function gallery(bras: readonly Bra[], addresses: BraAddresses, isChoice: boolean): Html {
  return html`<ul class="gallery">${bras.map((bra) => card(bra, addresses, isChoice))}
</ul>`;
}

function card(bra: Bra, { hrefOf, pictureOf }: BraAddresses, isChoice: boolean): Html {
  const { key, fields, pictures } = bra;
  const picture = pictures.map(pictureOf).find((address) => address !== null);
  return html`
<li>${
    picture === undefined
      ? html`<div class="photo" aria-hidden="true">${nameOf(fields.size ?? null, "no picture")}</div>`
      : html`<div class="photo"><img src="${picture}" alt="" loading="lazy"></div>`
  }
<h3><a href="${hrefOf(bra)}">${nameOf(fields.name ?? null)}</a></h3>
<p class="muted">${nameOf(fields.brand ?? null, "no brand")} · ${nameOf(fields.size ?? null, "no size")}</p>
${braTags(bra)}
${isChoice ? html`<label class="chosen"><input type="checkbox" name="bra" value="${key}"> Compare<span class="visually-hidden"> ${nameOf(fields.name ?? null)}</span></label>` : ""}
</li>`;
}

/** Whether it is owned, altered, made to measure or gone. */
export function braTags(bra: Bra): Html {
  const { fields } = bra;
  const isTrue = (name: string) => String(fields[name]) === "1";
  const words = [
    ...(String(fields.is_owned) === "0" ? ["not owned"] : []),
    ...(isTrue("is_custom") ? ["made to measure"] : []),
    ...(isTrue("is_altered") ? ["altered"] : []),
  ];
  return html`<p class="tags">${words.map((word) => html`<span class="tag">${word}</span> `)}${
    isGone(bra) ? html`<span class="tag gone">gone since ${dayOf(String(fields.gone_at))}</span>` : ""
  }</p>`;
}
