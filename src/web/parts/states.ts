/** What a page says when there is nothing, or not everything, or something is wrong. */
import { html } from "hono/html";
import { coverageOfTables } from "../../mirror/runs/coverage.ts";
import { describeTableCoverage } from "../../mirror/runs/describe-coverage.ts";
import { formatMinute } from "../../presentation/times.ts";
import type { TablesRead } from "../../query/sql/run-query.ts";
import type { Html, View } from "../page.ts";

/** How whole the tables of a page are: one sentence on every page that shows a part of what is known. */
export function wholeness(view: View, tables: TablesRead): Html | string {
  const all = view.slow("coverage");
  const coverage = tables === "all" ? all : coverageOfTables(all, tables);
  if (coverage.complete) return "";
  return html`<p class="note" role="note">${describeTableCoverage(coverage, formatMinute)}</p>`;
}

/** What a part of a page lacks, in sentences; empty ones are left out. */
export function shortfall(sentences: readonly string[]): Html | string {
  const text = sentences.filter((sentence) => sentence !== "").join(" ");
  return text === "" ? "" : html`<p class="note" role="note">${text}</p>`;
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
  return html`${text.split("`").map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
