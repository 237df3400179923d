/** `/brand/SLUG/MODEL`: one model, with its sizes, its relations, its history and where its values come from. */
import { html } from "hono/html";
import { parseJsonOrThrow } from "../../../schema/json.ts";
import { formatCount, formatNumber } from "../../presentation/numbers.ts";
import { findChanged, readHistory } from "../../query/history.ts";
import { findResource } from "../../query/keys/resolve-key.ts";
import { findBrandByKey, findModelByKey, readResourceKeys } from "../../query/lists/resource-keys.ts";
import { readBody } from "../../query/provenance.ts";
import { type HeldResource, readHeldResource, showResource } from "../../query/show.ts";
import type { Html, Page, PageResult, View } from "../page.ts";
import { facts } from "../parts/resource/facts.ts";
import { provenance } from "../parts/resource/provenance.ts";
import { sizesTable } from "../parts/resource/sizes-table.ts";
import { timeline } from "../parts/resource/timeline.ts";
import { empty, wholeness } from "../parts/states.ts";
import { externalLink, nameOf, pathOf, resourceLink } from "../parts/values.ts";

export const modelPage: Page = {
  path: "/brand/:brand/:model",
  render(view) {
    const found = find(view);
    if (found === null) {
      const { href } = findResource(view.mirror, "model", keyIn(view));
      const key = readResourceKeys(view.mirror, [href]).get(href);
      return { redirect: view.link(key === undefined ? "/models" : pathOf(key)) };
    }
    return show(view, found.id, readHeldResource(view.mirror, "model", found.href));
  },
  rows(view) {
    const href = find(view)?.href ?? findResource(view.mirror, "model", keyIn(view)).href;
    const shown = showResource(view.mirror, "model", href);
    return {
      name: "model",
      from: ["model", "size"],
      columns: Object.keys(shown.fields),
      rows: () => [Object.values(shown.fields)],
      document: shown,
    };
  },
};

const keyIn = ({ parameters: { brand = "", model = "" } }: View) => `${brand}/${model}`;

function find({ mirror, parameters: { brand = "", model = "" } }: View) {
  const owner = findBrandByKey(mirror, brand);
  return owner === null ? null : findModelByKey(mirror, owner.id, model);
}

function show(view: View, id: number, shown: HeldResource): PageResult {
  const { mirror } = view;
  const { fields, model: parts, source } = shown;
  const name = fields.full_name ?? fields.name ?? null;
  const brand = view.parameters.brand ?? "";
  const body = html`<nav class="crumbs" aria-label="Breadcrumbs"><a href="${view.link("/brands")}">Brands</a> <span aria-hidden="true">/</span> ${resourceLink(
    view,
    { kind: "brand", brand },
    parts?.brand?.name ?? null,
    brand,
  )}</nav>
<div class="title"><h1>${nameOf(name)}</h1>${fields.gone_at == null ? "" : html`<span class="tag gone">gone</span>`}${
    String(fields.is_discontinued) === "1" ? html`<span class="tag">discontinued</span>` : ""
  }</div>
${wholeness(view, ["model", "size"])}
<div class="columns">
<section aria-labelledby="sizes"><h2 id="sizes">Sizes</h2>${parts === undefined ? "" : sizesTable(mirror, id, parts)}</section>
<section aria-labelledby="facts"><h2 id="facts">Facts</h2>${facts("model", fields, ["name", "full_name", "slug", "brand_slug", "brand_href"])}</section>
</div>
${picturesOf(shown)}
${relatedOf(view, shown)}
<section aria-labelledby="history"><h2 id="history">History</h2>${timeline(view, readHistory(mirror, "model", source.url))}
${linkToHistories(view, shown)}</section>
<section aria-labelledby="source"><h2 id="source">Where this comes from</h2>${provenance(view, source)}
<details class="body"><summary>The body as it was sent</summary><pre tabindex="0"><code>${prettyBody(readBody(mirror, "model", source.url))}</code></pre></details></section>`;
  return { title: String(name ?? "Model"), body };
}

const changedSizesOf = ({ mirror }: View, { model: parts }: HeldResource): readonly string[] =>
  findChanged(
    mirror,
    (parts?.sizes ?? []).map(({ href }) => href),
  );

/** Each history takes statements of its own: with script they are loaded when the part is opened. */
function linkToHistories(view: View, shown: HeldResource): Html | string {
  const count = changedSizesOf(view, shown).length;
  if (count === 0) return "";
  const href = view.link(`${view.path}/sizes`);
  return html`<details class="histories" data-part="histories"><summary>${formatCount(count, "size")} changed, gone or back</summary>
<p class="more"><a href="${href}">The history of these sizes</a></p></details>`;
}

/** More of them would make the page too long. */
const maxHistories = 40;

/** `/brand/SLUG/MODEL/sizes`: the history of the sizes of a model that changed. */
export const sizeHistoriesPage: Page = {
  path: "/brand/:brand/:model/sizes",
  render(view) {
    const found = find(view);
    const { href } = found ?? findResource(view.mirror, "model", keyIn(view));
    const shown = readHeldResource(view.mirror, "model", href);
    const { fields, model: parts } = shown;
    const name = fields.full_name ?? fields.name ?? null;
    const modelPath = view.path.replace(/\/sizes$/, "");
    const changed = changedSizesOf(view, shown);
    const left = changed.length - maxHistories;
    const body = html`<nav class="crumbs" aria-label="Breadcrumbs"><a href="${view.link(modelPath)}">${nameOf(name)}</a></nav>
<h1>${nameOf(name)}</h1>
<h2>History of sizes</h2>
${changed.length === 0 ? empty("No size of this model has changed since it was first fetched.") : ""}
<div id="histories" class="histories">${changed.slice(0, maxHistories).map((one) => {
      const size = parts?.sizes.find((known) => known.href === one);
      return html`<h3>${nameOf(size?.size ?? null)}</h3>${timeline(view, readHistory(view.mirror, "size", one))}`;
    })}
${left > 0 ? html`<p class="hint">Not shown: ${formatNumber(left)} more, whose last change is older.</p>` : ""}</div>`;
    return { title: `History of sizes · ${String(name ?? "Model")}`, body };
  },
};

/** With line breaks and the same numbers, digit by digit. */
function prettyBody(body: Buffer): string {
  return JSON.stringify(parseJsonOrThrow(body.toString()).value, null, 2);
}

function picturesOf({ model: parts, fields }: HeldResource): Html | string {
  const main =
    typeof fields.main_picture === "string" ? [{ url: fields.main_picture, text: "Main picture" }] : [];
  const all = [...main, ...(parts?.pictures ?? [])].filter(({ url }) => typeof url === "string");
  if (all.length === 0) return "";
  return html`<section aria-labelledby="pictures"><h2 id="pictures">Pictures</h2>
<p class="hint">Addresses of pictures. A link leaves the mirror.</p>
<ul class="plain">${all.map(
    ({ url, text }) => html`
<li>${text === null ? "" : html`<span class="muted"><bdi>${String(text)}</bdi></span> `}${externalLink(String(url))}</li>`,
  )}</ul></section>`;
}

const relationWords: Readonly<Record<string, string>> = {
  related_models: "Related models",
  same_cut_models: "Models of the same cut",
};

function relatedOf(view: View, { model: parts }: HeldResource): Html | string {
  const related = parts?.related ?? [];
  const keys = readResourceKeys(
    view.mirror,
    related.map(({ href }) => href),
  );
  return html`${Object.entries(relationWords).map(([relation, title]) => {
    const models = related.filter((one) => one.name === relation);
    return models.length === 0
      ? ""
      : html`<section aria-labelledby="${relation}"><h2 id="${relation}">${title}</h2><ul class="cards">${models.map(
          ({ href, model, brand }) => html`
<li>${resourceLink(view, keys.get(href), model, "not fetched yet")}<span class="muted">${nameOf(brand, "")}</span></li>`,
        )}</ul></section>`;
  })}`;
}
