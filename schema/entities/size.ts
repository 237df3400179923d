/** A size of a model. Its fields come from the field notes, since the specification does not define them (section 2.11). */
import { z } from "zod";
import { document, integer, text, timestamp, url } from "../fields.ts";
import type { Entity } from "../rows-from-body.ts";

export const size: Entity = {
  table: "size",
  fields: z.object({
    service_url: url,
    size: text,
    band: integer,
    cup: text,
    bra_count: integer,
    main_picture: url,
    alternative_sizes: document,
    last_modified_at: timestamp,
  }),
  references: ["model"],
  owner: "model",
  lists: [],
};
