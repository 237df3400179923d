/** Formats one resource for people: its fields, links and pictures, what belongs to it, and where it comes from. */
import type { LastChange, Provenance } from "../../../query/provenance.ts";
import type { ShownResource } from "../../../query/show.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { describeChanges } from "./history.ts";
import { formatModelParts } from "./model-parts.ts";

export function formatResource(shown: ShownResource): string {
  const { fields, links, pictures = [], model, lastChange, source } = shown;
  const brandName = model?.brand?.name ?? null;
  const rows = [
    ...(brandName === null ? [] : [["brand", escapeControls(brandName)] as const]),
    ...Object.entries(fields).map(([name, value]) => [name, escapeControls(value)] as const),
    ...links.map(({ name, url }) => [`→ ${escapeControls(name)}`, url ?? "(another origin)"] as const),
    ...pictures.map(
      ({ field, url, file }) =>
        [`picture ${escapeControls(field)}`, file ?? `${url} (not downloaded)`] as const,
    ),
  ];
  return [
    formatPairs(rows),
    model === undefined ? "" : formatModelParts(model),
    formatLastChange(lastChange),
    formatSource(source),
  ].join("");
}

function formatLastChange(change: LastChange | null): string {
  if (change === null) return "\nUnchanged since it was first fetched\n";
  return `\nLast change, run ${change.run}, ${change.at}:\n${describeChanges(change.changes)}`;
}

function formatSource(source: Provenance): string {
  const { url, redirectedTo, run, revision, fetchedAt, status, etag, checkedAt, foundIn } = source;
  const rows: [string, string][] = [
    ["request", `GET ${url}`],
    ...(redirectedTo === null ? [] : ([["redirected to", redirectedTo]] as [string, string][])),
    ["response", `status ${status}, run ${run}, ${fetchedAt}, revision ${revision}`],
    ...(etag === null ? [] : ([["ETag", escapeControls(etag)]] as [string, string][])),
    ...(checkedAt === null ? [] : ([["last checked", checkedAt]] as [string, string][])),
    ...foundIn.map(({ url: page, link }): [string, string] => [
      "found in",
      link === null ? page : `${page} (link ${escapeControls(link)})`,
    ]),
  ];
  return `\nSource:\n${formatPairs(rows, "  ")}`;
}

function formatPairs(rows: readonly (readonly [name: string, value: string])[], indent = ""): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${indent}${name.padEnd(width)}  ${value}\n`).join("");
}
