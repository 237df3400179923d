/** The form of `/compare`: two points, and filters that may be given several times. */
import { html } from "hono/html";
import { compareKinds } from "../../../change/compared-kinds.ts";
import { publicTables } from "../../../mirror/public-tables.ts";
import { formatKind } from "../../../presentation/words.ts";
import type { Html, View } from "../../page.ts";
import { pointField } from "../point-field.ts";

export function compareForm(view: View): Html {
  const { mirror, query } = view;
  const { kinds, fields } = view.recent("compared kinds", () => namesOf(view));
  return html`<form class="fields" action="/compare" aria-label="What to compare">
<p class="field"><label for="from">From</label><input id="from" name="from" value="${query.get("from") ?? ""}" placeholder="the state before the last change" list="points" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="to">To</label><input id="to" name="to" value="${query.get("to") ?? ""}" placeholder="${mirror.asOf === null ? "the latest run" : `run ${mirror.asOf.run}`}" list="points" autocomplete="off" spellcheck="false"></p>
<fieldset class="field"><legend>Kind</legend>${kinds.map(
    (kind) =>
      html`<label class="choice"><input type="checkbox" name="kind" value="${kind}"${query.getAll("kind").includes(kind) ? html` checked` : ""}> ${formatKind(kind)}</label>`,
  )}</fieldset>
${repeated(query, "brand", "Brand", "a name, slug or URL", null)}
${repeated(query, "field", "Only this field", "such as bra_count", "fields")}
${repeated(query, "ignore", "Without this field", "such as bra_count", "fields")}
<datalist id="fields">${fields.map((field) => html`<option value="${field}"></option>`)}</datalist>
${pointField(view.link, "/compare")}
<p class="field"><button>Compare</button></p>
</form>
<p class="hint">A point is a run such as 12, a time such as 2026-11-03, or -7d.</p>`;
}

/** An input for each given value, or an empty one. */
function repeated(
  query: URLSearchParams,
  name: string,
  label: string,
  placeholder: string,
  list: string | null,
): Html {
  const given = query.getAll(name).filter((text) => text.trim() !== "");
  const values = given.length === 0 ? [""] : given;
  return html`${values.map(
    (value, n) =>
      html`<p class="field"><label for="${name}-${n}">${label}</label><input id="${name}-${n}" name="${name}" value="${value}" placeholder="${placeholder}"${list === null ? "" : html` list="${list}"`} autocomplete="off" spellcheck="false"></p>`,
  )}`;
}

function namesOf({ mirror }: View): {
  readonly kinds: readonly string[];
  readonly fields: readonly string[];
} {
  const tables = publicTables(mirror);
  const { kinds } = compareKinds(tables, tables);
  return {
    kinds: kinds.map(({ name }) => name),
    fields: [...new Set(kinds.flatMap(({ fields }) => fields))].sort(),
  };
}
