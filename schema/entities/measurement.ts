/**
 * A user's measurements, whose fields the specification does not define (section 2.6). Each is stored whole, as JSON text,
 * whether the collection contains it or links to its entity.
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
