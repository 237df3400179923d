/**
 * A user's measurements, whose shape the specification leaves open (section 2.6): each one is kept whole, as JSON text,
 * whether the collection gives it inline or leads to an entity of its own.
 */
import type { Envelope } from "../envelope.ts";
import type { ListTable, Projection } from "../rows-from-body.ts";

export const measurement: ListTable = { table: "measurement", columns: ["payload"] };

export function projectMeasurements(envelope: Envelope): Projection {
  const payloads =
    envelope.rel === "collection"
      ? envelope.items.filter((item) => typeof item.href !== "string")
      : [envelope.body ?? {}];
  const rows = payloads.map((payload) => [JSON.stringify(payload)]);
  return { row: null, lists: [{ table: measurement.table, rows }], issues: [] };
}
