/** A bra of a user (service-specification, section 2.5); lengths are centimetres, `note` is from the field notes. */
import { z } from "zod";
import { decimal, flag, integer, open, text, url } from "../fields.ts";
import { type Entity, readLabelMap } from "../rows-from-body.ts";

export const bra: Entity = {
  table: "bra",
  fields: z.object({
    service_url: url,
    name: text,
    brand: text,
    model: text,
    size: text,
    multiple_sizes: open,
    is_owned: flag,
    is_custom: flag,
    is_altered: flag,
    altered_band: flag,
    hooks: integer,
    bust_perimeter: decimal,
    strap_width: decimal,
    cup_separation: decimal,
    cup_depth: decimal,
    wire_length: decimal,
    gore_height: decimal,
    wing_height: decimal,
    band_length: decimal,
    stretched_band_length: decimal,
    note: text,
  }),
  references: ["brand", "model", "size"],
  owner: null,
  lists: [{ table: "bra_size", field: "multiple_sizes", columns: ["system", "size"], read: readLabelMap }],
};
