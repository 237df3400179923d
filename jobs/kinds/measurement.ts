/** One measurement of a user, where it has an address of its own. */
import { projectMeasurements } from "../../schema/entities/measurement.ts";
import type { Kind } from "../../schema/kind.ts";

export const measurement: Kind = {
  name: "measurement",
  rel: "entity",
  areas: ["account"],
  children: {},
  references: {},
  optional: {},
  project: projectMeasurements,
};
