/** A user's measurements (section 2.6), given inline or as entities of their own. */
import { projectMeasurements } from "../../schema/entities/measurement.ts";
import type { Kind } from "../../schema/kind.ts";
import { openSummary } from "../../schema/summaries.ts";

export const measurements: Kind = {
  name: "measurements",
  rel: "collection",
  areas: ["account"],
  children: {},
  references: {},
  optional: {},
  items: { kind: "measurement", summary: openSummary, owned: true },
  project: projectMeasurements,
};
