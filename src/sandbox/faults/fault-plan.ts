/** Keeps count of what was asked for, and says which fault is due. In: rules. Out, per request: a fault, or none. */
import type { Reply } from "../http/reply.ts";
import type { ResourceKind } from "../resources/resource.ts";
import type { FaultContext } from "./fault.ts";
import type { FaultRule } from "./fault-rule.ts";
import { faultNamed } from "./faults.ts";

export interface Strike {
  readonly name: string;
  readonly isConditional: boolean;
  readonly apply: (reply: Reply, context: Omit<FaultContext, "parameters">) => Reply;
}

export interface FaultPlan {
  readonly strike: (kind: ResourceKind, url: string) => Strike | null;
}

/** Where two rules are due, the first one strikes; the other keeps its turn. */
export function createFaultPlan(rules: readonly FaultRule[]): FaultPlan {
  const watched = rules.map((rule) => ({
    rule,
    seen: new Map<string, { position: number; struck: number }>(),
  }));
  return {
    strike(kind, url) {
      const key = withoutAgain(url);
      let due: Strike | null = null;
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

function strikeOf(rule: FaultRule): Strike {
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

/** Chains that never end count as one URL. */
function withoutAgain(url: string): string {
  return url.replace(/[?&]again=\d+/, "");
}
