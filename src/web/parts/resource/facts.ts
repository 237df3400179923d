/** The fields of a resource as a list of names and values. */
import { html } from "hono/html";
import type { Cell } from "../../../../schema/fields.ts";
import type { Html } from "../../page.ts";
import { fieldValueOf } from "../values.ts";
import { labelOf } from "./field-changes.ts";

/**
 * Whether the service has confirmed the values is shown only where it has not: that is the case after a snapshot.
 * @param without fields that the page shows elsewhere
 */
export function facts(
  kind: string,
  fields: Readonly<Record<string, Cell>>,
  without: readonly string[],
): Html {
  const told = Object.entries(fields).filter(
    ([name, value]) => !without.includes(name) && !(name === "confirmed" && value === "bytes"),
  );
  const shown = told.filter(([, value]) => value !== null);
  const missing = told.filter(([name, value]) => value === null && name !== "gone_at");
  return html`<dl class="facts">${shown.map(
    ([name, value]) => html`
<div><dt>${labelOf(name)}</dt><dd>${fieldValueOf(kind, name, value)}</dd></div>`,
  )}</dl>${
    missing.length === 0
      ? ""
      : html`<p class="hint">Not given: ${missing.map(([name]) => labelOf(name)).join(", ")}.</p>`
  }`;
}
