/** Decides which fault applies to which request. A rule names a fault, a kind of resource, positions and a number of times. */
import { z } from "zod";
import type { Reply } from "../http/reply.ts";
import { type ResourceKind, resourceKinds } from "../resources/resource.ts";
import { type FaultContext, faultParameters } from "./fault.ts";
import { faultNamed, faultNames } from "./faults.ts";

const position = z.int().min(1);

const faultRule = z
  .strictObject({
    kind: z.enum([...resourceKinds, "*"]).default("*"),
    /**
     * Positions number the URLs of the rule's kind, from 1, in the order of their first request.
     * Without `positions`, `every` and `from`, the rule applies to every URL.
     */
    positions: z.array(position).optional(),
    every: position.optional(),
    from: position.optional(),
    /** How many times the fault applies to each URL. */
    times: z.union([position, z.literal("always")]).default(1),
    fault: z.enum(faultNames),
    ...faultParameters.shape,
  })
  .readonly();

/** A rule as written, without defaults. */
export type FaultRuleInput = z.input<typeof faultRule>;
export type FaultRule = z.output<typeof faultRule>;

export const faultRules = z.array(faultRule);

/** Counts requests and selects each request's fault. */

export interface FaultStrike {
  readonly name: string;
  readonly isConditional: boolean;
  readonly apply: (reply: Reply, context: Omit<FaultContext, "parameters">) => Reply;
}

export interface FaultPlan {
  readonly strike: (kind: ResourceKind, url: string) => FaultStrike | null;
}

/** If two rules match, the first applies; the other waits for the next request. */
export function createFaultPlan(rules: readonly FaultRule[]): FaultPlan {
  const watched = rules.map((rule) => ({
    rule,
    seen: new Map<string, { position: number; struck: number }>(),
  }));
  return {
    strike(kind, url) {
      const key = withoutAgain(url);
      let due: FaultStrike | null = null;
      for (const { rule, seen } of watched) {
        if (rule.kind !== "*" && rule.kind !== kind) continue;
        const count = seen.get(key) ?? { position: seen.size + 1, struck: 0 };
        seen.set(key, count);
        if (due || !isAt(rule, count.position) || (rule.times !== "always" && count.struck >= rule.times))
          continue;
        count.struck++;
        due = strikeOf(rule);
      }
      return due;
    },
  };
}

function strikeOf(rule: FaultRule): FaultStrike {
  const { apply, isConditional } = faultNamed(rule.fault);
  return {
    name: rule.fault,
    isConditional,
    apply: (reply, context) => apply(reply, { ...context, parameters: rule }),
  };
}

function isAt({ positions, every, from }: FaultRule, position: number): boolean {
  if (positions && !positions.includes(position)) return false;
  if (every !== undefined && position % every !== 0) return false;
  return from === undefined || position >= from;
}

/** An endless chain of pages counts as one URL. */
function withoutAgain(url: string): string {
  return url.replace(/[?&]again=\d+/, "");
}

/** Named sets of rules. */

export const faultPresetNames = ["flaky", "hostile", "broken", "slow"] as const;
export type FaultPresetName = (typeof faultPresetNames)[number];

export const faultPresets: Readonly<Record<FaultPresetName, readonly FaultRuleInput[]>> = {
  /** Every retry succeeds. */
  flaky: [
    { every: 7, fault: "status", status: 503 },
    { every: 11, fault: "reset" },
    { every: 13, fault: "truncate", framing: "chunked" },
    { every: 17, fault: "status", status: 429, retryAfter: "0" },
    { every: 19, fault: "hang-up" },
    { every: 23, fault: "truncate", framing: "gzip", at: -8 },
    { every: 29, fault: "status", status: 502 },
  ],
  /** Hostile content; replies without a fault are correct. */
  hostile: [
    { kind: "brand", every: 4, times: "always", fault: "evil-links", link: "related" },
    { kind: "model", every: 5, times: "always", fault: "redirect", target: "http://evil.example{path}" },
    { kind: "model", every: 7, times: "always", fault: "wrong-types" },
    { kind: "model", every: 11, times: "always", fault: "prototype-keys" },
    { kind: "sizes", every: 6, times: "always", fault: "evil-links" },
    { kind: "size", every: 9, times: "always", fault: "gzip-bomb" },
    { kind: "size", every: 10, times: "always", fault: "login-page" },
    { kind: "size", every: 11, times: "always", fault: "odd-text" },
    { kind: "size", every: 13, times: "always", fault: "deep" },
    { kind: "size", every: 17, times: "always", fault: "redirect", target: "//evil.example{path}" },
  ],
  /** Some resources always fail. */
  broken: [
    { kind: "brand", positions: [3], times: "always", fault: "status", status: 500 },
    { kind: "model", every: 7, times: "always", fault: "not-json" },
    { kind: "sizes", every: 8, times: "always", fault: "status", status: 500 },
    { kind: "size", every: 10, times: "always", fault: "invalid-utf8" },
  ],
  slow: [
    { every: 5, fault: "slow", millis: 300 },
    { every: 9, fault: "drip", millis: 1 },
  ],
};
