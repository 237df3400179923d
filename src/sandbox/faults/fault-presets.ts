/** Ready-made weather: rules that one word asks for. */
import type { FaultRuleInput } from "./fault-rule.ts";

export const faultPresetNames = ["flaky", "hostile", "broken", "slow"] as const;
export type FaultPresetName = (typeof faultPresetNames)[number];

export const faultPresets: Readonly<Record<FaultPresetName, readonly FaultRuleInput[]>> = {
  /** Everything works when it is asked for again. */
  flaky: [
    { every: 7, fault: "status", status: 503 },
    { every: 11, fault: "reset" },
    { every: 13, fault: "truncate", framing: "chunked" },
    { every: 17, fault: "status", status: 429, retryAfter: "0" },
    { every: 19, fault: "hang-up" },
    { every: 23, fault: "truncate", framing: "gzip", at: -8 },
    { every: 29, fault: "status", status: 502 },
  ],
  /** Nothing here may be believed; what is not touched is right. */
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
  /** Some resources never work. */
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
