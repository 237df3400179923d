/** The history of a resource: its revisions, the newest first, field by field. */
import { html } from "hono/html";
import { formatCount } from "../../../presentation/numbers.ts";
import type { Life, ResourceHistory, RevisionOfLife } from "../../../query/history.ts";
import type { Html, View } from "../../page.ts";
import { runName } from "../runs/run-link.ts";
import { timeOf } from "../values.ts";
import { fieldChanges } from "./field-changes.ts";

const unchangedWords = {
  replaced: "A newer revision of the same run followed.",
  same: "The same body as before.",
  unread: "Only links, or fields without a column, changed.",
} as const;

type OfRuns = Pick<View, "account">;

export function timeline(view: OfRuns, history: ResourceHistory): Html {
  const lives = history.lives.flatMap((life, n) => entriesOf(view, history.kind, life, n > 0)).reverse();
  return html`<ol class="timeline">${lives}
<li><p class="when"><strong>First linked to</strong> ${timeOf(history.firstKnown.at)}, ${runName(view, history.firstKnown.run)}</p></li></ol>`;
}

function entriesOf(view: OfRuns, kind: string, { revisions, gone }: Life, isAgain: boolean): Html[] {
  return [
    ...revisions.map((revision, n) => revisionOf(view, kind, revision, n === 0, isAgain)),
    ...(gone === null
      ? []
      : [
          html`<li class="gone"><p class="when"><strong>Gone</strong> ${timeOf(gone.at)}, ${runName(view, gone.run)}</p><p>The service no longer has it. Its last values are kept.</p></li>`,
        ]),
  ];
}

function revisionOf(
  view: OfRuns,
  kind: string,
  revision: RevisionOfLife,
  isFirst: boolean,
  isAgain: boolean,
): Html {
  const { firstSeen, lastSeen, changes, unchanged, pruned } = revision;
  const title = isFirst ? (isAgain ? "Back" : "First fetched") : "Changed";
  // The first values are those of all fields, which the page has anyway.
  const fields = isFirst ? [] : changes;
  return html`<li><p class="when"><strong>${title}</strong> ${timeOf(firstSeen.at)}, ${runName(view, firstSeen.run)}${
    lastSeen === null || lastSeen.run === firstSeen.run
      ? ""
      : html`<span class="muted"> · last seen so ${timeOf(lastSeen.at)}</span>`
  }</p>${pruned > 0 ? html`<p class="hint">${formatCount(pruned, "revision")} before it pruned.</p>` : ""}${
    fields.length > 0
      ? fieldChanges(kind, fields)
      : unchanged === null || isFirst
        ? ""
        : html`<p class="hint">${unchangedWords[unchanged]}</p>`
  }</li>`;
}
