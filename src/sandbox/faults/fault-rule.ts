/** A rule: which fault strikes which kind of resource, at which positions, how often. Read from JSON, strictly. */
import { z } from "zod";
import { resourceKinds } from "../resources/resource.ts";
import { faultParameters } from "./fault-parameters.ts";
import { faultNames } from "./faults.ts";

const position = z.int().min(1);

const faultRule = z
  .strictObject({
    kind: z.enum([...resourceKinds, "*"]).default("*"),
    /**
     * Positions count, from 1, the different URLs of the rule's kind in the order in which they are first asked for.
     * With none of the three, the rule is for every URL.
     */
    positions: z.array(position).optional(),
    every: position.optional(),
    from: position.optional(),
    /** How often each URL is struck. */
    times: z.union([position, z.literal("always")]).default(1),
    fault: z.enum(faultNames),
    ...faultParameters.shape,
  })
  .readonly();

/** A rule as it is written. */
export type FaultRuleInput = z.input<typeof faultRule>;
export type FaultRule = z.output<typeof faultRule>;

export const faultRules = z.array(faultRule);
