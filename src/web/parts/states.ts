/** What a page says when there is nothing, or not everything, or something is wrong. */
import { html } from "hono/html";
import { type Coverage, coverageOfTables } from "../../mirror/runs/coverage.ts";
import { gapsOf } from "../../mirror/runs/describe-coverage.ts";
import { formatMinute } from "../../presentation/times.ts";
import type { TablesRead } from "../../query/sql/run-query.ts";
import type { Html, View } from "../page.ts";

/** How whole the tables of a page are: one sentence on every page that shows a part of what is known. */
export const wholeness = (view: Pick<View, "slow">, tables: TablesRead): Html | string =>
  html`${gapsOf(coverageIn(view, tables), formatMinute).map((gap) => note(gap))}`;

/** As a header's value, for the rows of a page. @returns no header if nothing is missing */
export function wholenessHeader(
  view: Pick<View, "slow">,
  tables: TablesRead,
): Readonly<Record<string, string>> {
  const [gap] = gapsOf(coverageIn(view, tables));
  return gap === undefined ? {} : { "armoire-coverage": gap.replace(/[^\x20-\x7e]/g, "?") };
}

function coverageIn(view: Pick<View, "slow">, tables: TablesRead): Coverage {
  const all = view.slow("coverage");
  return tables === "all" ? all : coverageOfTables(all, tables);
}

export const note = (text: Html | string): Html => html`<p class="note" role="note">${text}</p>`;

/** What a part of a page lacks, in sentences; empty ones are left out. */
export function shortfall(sentences: readonly string[]): Html | string {
  const text = sentences.filter((sentence) => sentence !== "").join(" ");
  return text === "" ? "" : note(text);
}

export const empty = (text: string, hint: Html | string = ""): Html =>
  html`<div class="empty"><p>${text}</p>${hint === "" ? "" : html`<p class="hint">${hint}</p>`}</div>`;

export function problem(title: string, text: string, hint: string): Html {
  return html`<div class="problem"><h1>${title}</h1><p>${text}</p>${hint === "" ? "" : html`<p class="hint">${withCode(hint)}</p>`}</div>`;
}

/** What is wrong with the values of a form, below it. */
export const mistake = ({ message, hint }: { readonly message: string; readonly hint: string }): Html =>
  html`<div class="mistake" role="alert"><p>${message}</p>${hint === "" ? "" : html`<p class="hint">${withCode(hint)}</p>`}</div>`;

/** Commands in backticks, as hints have them, as code. */
export function withCode(text: string): Html {
  return html`${text.split("`").map((part, n) => (n % 2 === 1 ? html`<code>${withFlags(part)}</code>` : part))}`;
}

/** A line that ended within a flag would make it two. */
const withFlags = (command: string): Html =>
  html`${command.split(/(--[a-z-]{1,24})/).map((part, n) => (n % 2 === 1 ? html`<span class="flag">${part}</span>` : part))}`;
