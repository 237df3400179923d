/** A user's measurements (section 2.6): a list that holds them or leads to them, or one entity with all of it. */
import { projectMeasurements } from "../../schema/entities/measurement.ts";
import type { Kind } from "../../schema/kind.ts";
import { openSummary } from "../../schema/summaries.ts";

export const measurements: Kind = {
  name: "measurements",
  rel: null,
  areas: ["account"],
  children: {},
  references: {},
  optional: {},
  items: { kind: "measurement", summary: openSummary, owned: true },
  project: projectMeasurements,
};
