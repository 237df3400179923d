/** Parts of pages that change while a sync runs: the script loads them again on events of the server. */
import { html } from "hono/html";
import type { Html, View } from "../page.ts";

/** @param id unique in the page @param topic what it is made of; all parts of a page have the same @param content stays whole without script */
export const live = (
  view: Pick<View, "asOf">,
  id: string,
  topic: "mirror" | "shared",
  content: Html | string,
): Html =>
  view.asOf === undefined
    ? html`<div id="live-${id}" data-live="${topic}">${content}</div>`
    : html`<div>${content}</div>`;
