/** Failed resources, grouped by the reason. */
import { html } from "hono/html";
import type { FailedResource } from "../../../../jobs/bullmq/operators/failures.ts";
import type { ResourceState } from "../../../../schema/tables.ts";
import { toIso } from "../../../platform/clock.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import { readResourceKeys } from "../../../query/lists/resource-keys.ts";
import type { Html, SharedView } from "../../page.ts";
import { table } from "../lists/table.ts";
import { empty } from "../states.ts";
import { externalLink, resourceLink, timeOf } from "../values.ts";

/** Of each reason; a download has all. */
const maxShown = 20;
const maxReasons = 30;

/** @param stateOf by URL, as the mirror has it now */
export function failuresByReason(
  view: SharedView,
  failures: readonly FailedResource[],
  stateOf: (url: string) => ResourceState | null,
): Html {
  if (failures.length === 0) return empty("Nothing has failed in the last week.");
  const groups = [...Map.groupBy(failures, ({ reason }) => reason)].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  const shown = groups.slice(0, maxReasons);
  const urls = shown.flatMap(([, group]) => group.slice(0, maxShown).map(({ url }) => url));
  const keys = view.mirror === null ? new Map() : readResourceKeys(view.mirror, urls);
  return html`${shown.map(([reason, group], n) => groupOf(view, { reason, group, keys, stateOf, isOpen: n === 0 }))}
${groups.length > shown.length ? html`<p class="hint">${formatCount(groups.length - shown.length, "more reason")}: all are in the downloads below.</p>` : ""}`;
}

interface Group {
  readonly reason: string;
  readonly group: readonly FailedResource[];
  readonly keys: ReturnType<typeof readResourceKeys>;
  readonly stateOf: (url: string) => ResourceState | null;
  readonly isOpen: boolean;
}

function groupOf(view: SharedView, { reason, group, keys, stateOf, isOpen }: Group): Html {
  const shown = group.slice(0, maxShown);
  return html`<details class="group"${isOpen ? html` open` : ""}><summary><bdi>${reason}</bdi> <span class="count">${formatCount(group.length, "resource")}</span></summary>
${table({
  caption: `Resources that failed: ${reason}`,
  isStacked: true,
  columns: [
    { label: "Resource" },
    { label: "URL", isMinor: true },
    { label: "Attempts", isNumber: true, isMinor: true },
    { label: "Last" },
    { label: "Now" },
  ],
  rows: shown.map(({ kind, label, url, attempts, failedAt, message }) => [
    html`${resourceLink(view, keys.get(url), label ?? url)} <span class="muted">${formatKind(kind)}</span>${message === null ? "" : html` <span class="hint">“<bdi>${message}</bdi>”</span>`}`,
    html`<span class="code">${externalLink(url)}</span>`,
    formatNumber(attempts),
    timeOf(toIso(failedAt)),
    nowOf(stateOf(url)),
  ]),
})}${group.length > shown.length ? html`<p class="hint">The newest ${formatNumber(shown.length)} of ${formatNumber(group.length)}; all are in the downloads below.</p>` : ""}</details>`;
}

/** A later attempt may have succeeded. */
const nowOf = (state: ResourceState | null): string =>
  state === "held" ? "fetched since" : state === null ? "unknown" : state;
