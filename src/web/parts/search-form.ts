/** The large search box. With script, results appear below it while one types. */
import { html } from "hono/html";
import type { Html, View } from "../page.ts";
import { pointField } from "./point-field.ts";

/** @param showsResults whether the page has a place with the id `results` */
export function searchForm(view: View, text: string, showsResults: boolean): Html {
  return html`<form class="search" action="/search" role="search">
<label class="visually-hidden" for="q">Search brands and models</label>
<input id="q" type="search" name="q" value="${text}" placeholder="Search brands and models" autocomplete="off" data-slash${showsResults ? html` data-results="results"` : ""}>
${pointField(view.link, "/search")}
<button>Search</button></form>`;
}
