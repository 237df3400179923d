/** A brand (service-specification, section 2.8; `default_sizing_name` from the field notes). */
import { z } from "zod";
import { integer, open, text, timestamp, url } from "../fields.ts";
import type { Entity } from "../rows-from-body.ts";

export const brand: Entity = {
  table: "brand",
  fields: z.object({
    service_url: url,
    bra_count: integer,
    name: text,
    slug: text,
    default_sizing_system: text,
    default_sizing_name: text,
    logo: url,
    twitter: open,
    facebook: open,
    official_url: url,
    last_modified_at: timestamp,
  }),
  references: [],
  owner: null,
  lists: [],
};
