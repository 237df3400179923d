/** Formats one resource for people: its fields, links and pictures, what belongs to it, and where it comes from. */

import type { Cell } from "../../../../schema/fields.ts";
import { formatNumber } from "../../../presentation/numbers.ts";
import { formatSecond } from "../../../presentation/times.ts";
import { describeGoneProof, readableText } from "../../../presentation/words.ts";
import type { LastChange, Provenance } from "../../../query/provenance.ts";
import type { BrandParts, ShownResource } from "../../../query/show.ts";
import type { Screen } from "../../terminal/io.ts";
import { alignRows } from "../../terminal/table/text-table.ts";
import { describeChanges } from "./history.ts";
import { formatModelParts } from "./model-parts.ts";

/** @param screen the terminal; null without one */
export function formatResource(shown: ShownResource, screen: Pick<Screen, "columns"> | null = null): string {
  const { kind, fields, links, pictures = [], model, brand, lastChange, source } = shown;
  const brandName = model?.brand?.name ?? null;
  const rows: unknown[][] = [
    ...(brandName === null ? [] : [["brand", brandName]]),
    ...fieldsInOrder(fields).map(([field, value]) => [field, readableText(kind, field, value)]),
    ...links.map(({ name, url }) => [`→ ${name}`, url ?? "(another origin)"]),
    ...pictures.map(({ field, url, file }) => [`picture ${field}`, file ?? `${url} (not downloaded)`]),
  ];
  return [
    alignRows(rows),
    model === undefined ? "" : formatModelParts(model, screen),
    brand === undefined ? "" : formatModels(brand),
    formatLastChange(kind, lastChange),
    formatSource(source),
  ].join("");
}

function formatModels({ modelList, models: { known, held } }: BrandParts): string {
  if (modelList === "unread" && known === 0) return "\nModels: the list is not fetched yet\n";
  const rest = modelList === "complete" ? "" : "; the list is not fetched to its end";
  const missing = held === known ? "" : `, ${formatNumber(known - held)} of them not fetched yet`;
  return `\nModels: ${known === 0 ? "none known" : formatNumber(known)}${missing}${rest}\n`;
}

/** Addresses come last. Without shared snapshots, all rows are confirmed by the service's bytes. */
function fieldsInOrder(fields: ShownResource["fields"]): [string, Cell][] {
  const isAddress = ([, value]: [string, Cell]) => typeof value === "string" && /^https?:\/\//.test(value);
  const shown = Object.entries(fields).filter(([field, value]) => field !== "confirmed" || value !== "bytes");
  return [...shown.filter((field) => !isAddress(field)), ...shown.filter(isAddress)];
}

function formatLastChange(kind: string, change: LastChange | null): string {
  if (change === null) return "\nUnchanged since it was first fetched\n";
  return `\nLast change, run ${change.run}, ${formatSecond(change.at)}:\n${describeChanges(kind, change.changes)}`;
}

function formatSource(source: Provenance): string {
  const { url, redirectedTo, run, revision, fetchedAt, status, etag, modifiedAt, checkedAt, gone, foundIn } =
    source;
  const rows: string[][] = [
    ["request (GET)", url],
    ...(redirectedTo === null ? [] : [["redirected to", redirectedTo]]),
    ["response", `status ${status}, run ${run}, ${formatSecond(fetchedAt)}, revision ${revision}`],
    ...(etag === null ? [] : [["ETag", etag]]),
    ...(modifiedAt === null ? [] : [["Last-Modified", modifiedAt]]),
    ...(checkedAt === null ? [] : [["last checked", formatSecond(checkedAt)]]),
    ...(gone === null ? [] : [["gone", `run ${gone.run}, ${formatSecond(gone.at)}`]]),
    ...(gone?.proof ? [["gone because", describeGoneProof(gone.proof)]] : []),
    ...foundIn.map(({ url: page, link }) => [
      gone === null ? "found in" : "last found in",
      link === null ? page : `${page} (link ${link})`,
    ]),
  ];
  return `\nSource:\n${alignRows(rows, "  ")}`;
}
