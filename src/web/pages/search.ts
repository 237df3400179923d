/** `/search`: brands and models by words of their names. The script of the pages shows results while one types. */
import { html } from "hono/html";
import { formatCount } from "../../presentation/numbers.ts";
import { type Found, search } from "../../query/search.ts";
import { suggestSearch } from "../../query/suggest-search.ts";
import type { Html, Page, View } from "../page.ts";
import { searchForm } from "../parts/search-form.ts";
import { wholeness } from "../parts/states.ts";
import { nameOf, numberOf, pathOf } from "../parts/values.ts";

const maxResults = 50;
const columns = ["kind", "name", "code", "brand", "bra_count", "state", "href", "path"] as const;

const textIn = ({ query }: View) => query.get("q")?.trim() ?? "";
const withGone = ({ query }: View) => query.get("gone") === "any";

const find = (view: View, limit: number): Found[] =>
  search(view.mirror, textIn(view), { limit, gone: withGone(view) });

export const searchPage: Page = {
  path: "/search",
  render(view) {
    const text = textIn(view);
    const body = html`<h1 class="visually-hidden">Search</h1>
${searchForm(view, text, true)}
<div id="results" aria-live="polite">${text === "" ? "" : results(view, text)}</div>
${wholeness(view, ["brand", "model"])}`;
    return { title: text === "" ? "Search" : `${text} · Search`, body, hasRows: text !== "" };
  },
  rows: (view) => ({
    name: "search",
    from: ["brand", "model"],
    columns,
    rows: () =>
      find(view, maxResults).map((found) => [
        ...columns.slice(0, -1).map((column) => found[column as keyof Found]),
        pathIn(view, found),
      ]),
  }),
};

/** Null for a resource without a page. */
function pathIn(view: View, { kind, key }: Found): string | null {
  const [brand = "", model] = String(key ?? "").split("/");
  if (key === null || kind === "bra") return null;
  return view.link(pathOf(model === undefined ? { kind: "brand", brand } : { kind: "model", brand, model }));
}

function results(view: View, text: string): Html {
  const all = find(view, maxResults + 1);
  const found = all.slice(0, maxResults);
  if (found.length === 0) return nothing(view, text);
  const count =
    all.length > maxResults ? `The first ${maxResults} results` : formatCount(found.length, "result");
  return html`<p class="count">${count}</p><ol class="results">${found.map((one) => {
    const path = pathIn(view, one);
    const name = html`<span class="name">${nameOf(one.name)}</span>`;
    return html`
<li>${path === null ? html`<div class="result">${name}${detailsOf(one)}</div>` : html`<a class="result" href="${path}">${name}${detailsOf(one)}</a>`}</li>`;
  })}</ol>`;
}

function detailsOf({ kind, brand, bra_count, state }: Found): Html {
  return html`<span class="about">${kind === "model" ? nameOf(brand, "") : "Brand"}</span>${
    state === "held"
      ? ""
      : html`<span class="tag ${state}">${state === "gone" ? "gone" : "not fetched yet"}</span>`
  }<span class="number">${bra_count === null ? "" : html`${numberOf(bra_count)} owned`}</span>`;
}

function nothing(view: View, text: string): Html {
  const { gone, similar } = suggestSearch(view.mirror, text);
  return html`<div class="empty"><p>Nothing has all of these words.</p>${
    similar.length === 0
      ? ""
      : html`<p>Did you mean ${similar.map((one, n) => html`${n === 0 ? "" : " or "}<a href="${view.link("/search", { q: one })}"><bdi>${one}</bdi></a>`)}?</p>`
  }${
    gone === 0 || withGone(view)
      ? ""
      : html`<p><a href="${view.link("/search", { q: text, gone: "any" })}">${formatCount(gone, "resource that is", "resources that are")} gone had them</a></p>`
  }</div>`;
}
