/** Two states of some resources, compared: what changed, appeared and disappeared between them. */
import type { CatalogueResource, TruthRecord } from "../resources/catalogue.ts";
import type { Json, SentEnvelope } from "../resources/view.ts";

export interface AdvanceAction {
  readonly action: "changed" | "added" | "removed" | "moved";
  readonly kind: CatalogueResource["kind"];
  readonly url: string;
  /** Members of an entity's body, or of a page's `meta` and its `collection`; `position` (from 0) of what moved. */
  readonly fields?: Readonly<Record<string, readonly [before: Json, after: Json]>>;
}

/** Both by URL. */
export function describeChanges(
  before: ReadonlyMap<string, TruthRecord>,
  after: ReadonlyMap<string, TruthRecord>,
): AdvanceAction[] {
  const actions: AdvanceAction[] = [];
  for (const [url, { kind, body }] of before) {
    const now = after.get(url);
    if (!now) {
      actions.push({ action: "removed", kind, url });
      continue;
    }
    const fields = changedFields(body, now.body);
    if (Object.keys(fields).length > 0) actions.push({ action: "changed", kind, url, fields });
  }
  for (const [url, { kind }] of after) if (!before.has(url)) actions.push({ action: "added", kind, url });
  return actions;
}

export function changedFields(before: SentEnvelope, after: SentEnvelope): Record<string, [Json, Json]> {
  const [left, right] = [flatten(before), flatten(after)];
  const fields: Record<string, [Json, Json]> = {};
  for (const name of Object.keys(left)) {
    const [one, other] = [left[name] ?? null, right[name] ?? null];
    if (JSON.stringify(one) !== JSON.stringify(other)) fields[name] = [one, other];
  }
  return fields;
}

function flatten({ meta, body, collection }: SentEnvelope): Record<string, Json> {
  return { ...meta, ...body, ...(collection && { collection }) };
}
