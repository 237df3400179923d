/** The form of `/compare`: two points, and filters that may be given several times. */
import { html } from "hono/html";
import { compareKinds } from "../../../change/compared-kinds.ts";
import { findField } from "../../../change/filter.ts";
import { publicTables } from "../../../mirror/public-tables.ts";
import { formatKind } from "../../../presentation/words.ts";
import type { Html, View } from "../../page.ts";
import { pointField } from "../point-field.ts";
import { labelOf } from "../resource/field-changes.ts";

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
${brandInputs(query)}
${fieldChoices(query, "field", "Only this field", "all fields", fields)}
${fieldChoices(query, "ignore", "Without this field", "none", fields)}
${pointField(view.link, "/compare")}
<p class="field"><button>Compare</button></p>
</form>
<p class="hint">A point is a run such as 12, a time such as 2026-11-03, or -7d.</p>`;
}

const givenIn = (query: URLSearchParams, name: string): readonly string[] => {
  const given = query.getAll(name).filter((text) => text.trim() !== "");
  return given.length === 0 ? [""] : given;
};

/** An input for each given brand, or an empty one. */
const brandInputs = (query: URLSearchParams): Html =>
  html`${givenIn(query, "brand").map(
    (value, n) =>
      html`<p class="field"><label for="brand-${n}">Brand</label><input id="brand-${n}" name="brand" value="${value}" placeholder="a name, slug or URL" autocomplete="off" spellcheck="false"></p>`,
  )}`;

/** A choice for each given field, or one. */
function fieldChoices(
  query: URLSearchParams,
  name: string,
  label: string,
  none: string,
  fields: readonly string[],
): Html {
  return html`${givenIn(query, name).map((given, n) => {
    const chosen = findField(given, fields);
    return html`<p class="field"><label for="${name}-${n}">${label}</label><select id="${name}-${n}" name="${name}"><option value="">${none}</option>${fields.map(
      (field) =>
        html`<option value="${field}"${field === chosen ? html` selected` : ""}>${labelOf(field)}</option>`,
    )}</select></p>`;
  })}`;
}

function namesOf({ mirror }: View): {
  readonly kinds: readonly string[];
  readonly fields: readonly string[];
} {
  const tables = publicTables(mirror);
  const { kinds } = compareKinds(tables, tables);
  return {
    kinds: kinds.map(({ name }) => name),
    fields: [...new Set(kinds.flatMap(({ fields }) => fields))].sort((a, b) =>
      labelOf(a).localeCompare(labelOf(b), "en"),
    ),
  };
}
