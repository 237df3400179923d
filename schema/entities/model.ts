/** A model of a brand (service-specification, section 2.10), and its stock pictures. */
import { z } from "zod";
import { isRecord } from "../envelope.ts";
import { type Cell, flag, integer, open, text, timestamp, url } from "../fields.ts";
import type { Entity } from "../projection.ts";

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
      read: (value) => (Array.isArray(value) && value.every(isRecord) ? value.map(readPicture) : null),
    },
  ],
};

function readPicture(picture: Record<string, unknown>): readonly Cell[] {
  return [picture.url, picture.text].map((field) => (typeof field === "string" ? field : null));
}
