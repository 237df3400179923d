/** The fields of a resource as a list of names and values. */
import { html } from "hono/html";
import type { Cell } from "../../../../schema/fields.ts";
import type { Html } from "../../page.ts";
import { fieldValueOf } from "../values.ts";
import { labelOf } from "./field-changes.ts";

/** @param without fields that the page shows elsewhere */
export function facts(
  kind: string,
  fields: Readonly<Record<string, Cell>>,
  without: readonly string[],
): Html {
  const shown = Object.entries(fields).filter(([name, value]) => value !== null && !without.includes(name));
  const missing = Object.entries(fields).filter(([name, value]) => value === null && !without.includes(name));
  return html`<dl class="facts">${shown.map(
    ([name, value]) => html`
<div><dt>${labelOf(name)}</dt><dd>${fieldValueOf(kind, name, value)}</dd></div>`,
  )}</dl>${
    missing.length === 0
      ? ""
      : html`<p class="hint">Not given: ${missing.map(([name]) => labelOf(name)).join(", ")}.</p>`
  }`;
}
