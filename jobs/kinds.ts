/** The table of kinds: what the walk knows. A new kind is a file in `kinds/` and a name here. */
import type { Kinds } from "../schema/kind.ts";
import { bra } from "./kinds/bra.ts";
import { brand } from "./kinds/brand.ts";
import { brands } from "./kinds/brands.ts";
import { bras } from "./kinds/bras.ts";
import { me } from "./kinds/me.ts";
import { measurement } from "./kinds/measurement.ts";
import { measurements } from "./kinds/measurements.ts";
import { model } from "./kinds/model.ts";
import { models } from "./kinds/models.ts";
import { rateLimit } from "./kinds/rate-limit.ts";
import { adjacentSizes, relatedBrands, relatedModels, sameCutModels } from "./kinds/relations.ts";
import { root } from "./kinds/root.ts";
import { size } from "./kinds/size.ts";
import { sizes } from "./kinds/sizes.ts";

export const kinds: Kinds = Object.fromEntries(
  [
    root,
    brands,
    brand,
    models,
    model,
    sizes,
    size,
    relatedBrands,
    relatedModels,
    sameCutModels,
    adjacentSizes,
    me,
    bras,
    bra,
    measurements,
    measurement,
    rateLimit,
  ].map((kind) => [kind.name, kind]),
);
