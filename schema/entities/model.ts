/** A model of a brand (service-specification, section 2.10), and its stock pictures. */
import { z } from "zod";
import { type FieldIssue, readKnownFields } from "../envelope.ts";
import { type Cell, flag, integer, open, text, timestamp, url } from "../fields.ts";
import type { IssueSink } from "../input/issues.ts";
import { isRecord } from "../json.ts";
import type { Entity } from "../rows-from-body.ts";

const picture = z.object({ url, text });

export const model: Entity = {
  table: "model",
  fields: z.object({
    service_url: url,
    code: text,
    name: text,
    full_name: text,
    slug: text,
    brand_slug: text,
    bra_count: integer,
    is_discontinued: flag,
    type: text,
    official_url: url,
    main_picture: url,
    main_stock_picture: open,
    manufacturer_stock_pictures: open,
    last_modified_at: timestamp,
  }),
  references: ["brand"],
  owner: "brand",
  lists: [
    {
      table: "model_picture",
      field: "manufacturer_stock_pictures",
      columns: ["url", "text"],
      read: (value, at, issues) =>
        Array.isArray(value)
          ? value.map((entry, index) => readPicture(entry, `${at}/${index}`, issues))
          : null,
    },
  ],
};

function readPicture(value: unknown, at: string, issues: IssueSink<FieldIssue>): readonly Cell[] {
  if (!isRecord(value)) {
    issues.push({ pointer: at, code: "wrong-type" });
    return [null, null];
  }
  const read = readKnownFields(picture, value, at, issues);
  return [read.url ?? null, read.text ?? null];
}
