import { describe, expect, it } from "vitest";
import { type FaultName, faultNames } from "../../../src/sandbox/faults/faults.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { currentBodies } from "../../support/current-bodies.ts";
import { differencesFromTruth, truthOf } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

/**
 * The outcome of a resource whose every response has the fault: it is stored unchanged, stored as sent with its oddities, or
 * refused and requested again by a later run.
 */
type Outcome = "whole" | "as sent" | "refused";

/** These end the run, or wait for long timeouts; the tests of the HTTP client cover them. */
const testedElsewhere: readonly FaultName[] = [
  ...(["not-authenticated", "allowance-spent", "stall", "stall-headers", "drip-headers"] as const),
];

const outcomes: Partial<Record<FaultName, Outcome>> = {
  status: "refused",
  "bare-refusal": "refused",
  redirect: "refused",
  "redirect-chain": "refused",
  "not-modified": "refused",
  "not-modified-with-body": "refused",
  header: "whole",
  "wrong-content-type": "refused",
  "no-content-type": "refused",
  "login-page": "refused",
  encoding: "refused",
  "chained-encodings": "refused",
  "gzip-bomb": "refused",
  "same-etag-other-body": "as sent",
  truncate: "refused",
  reset: "refused",
  "hang-up": "refused",
  drip: "whole",
  slow: "whole",
  "close-after": "whole",
  text: "refused",
  "empty-body": "refused",
  "json-null": "refused",
  "json-array": "refused",
  "json-string": "refused",
  "not-json": "refused",
  "two-documents": "refused",
  "trailing-garbage": "refused",
  "byte-order-mark": "as sent",
  "invalid-utf8": "refused",
  "utf-16": "refused",
  "big-numbers": "as sent",
  "duplicate-keys": "as sent",
  "two-bodies": "refused",
  "prototype-keys": "as sent",
  deep: "refused",
  "evil-links": "as sent",
  "null-links": "as sent",
  "wrong-links": "as sent",
  "relative-links": "as sent",
  "templated-links": "as sent",
  "missing-links": "as sent",
  "next-beyond": "whole",
  "null-collection": "refused",
  "many-items": "refused",
  set: "refused",
  remove: "refused",
  "wrong-types": "as sent",
  "unknown-fields": "as sent",
  "odd-time": "as sent",
  "odd-text": "as sent",
  "top-level-collection": "as sent",
  "empty-meta": "as sent",
  "wrong-rel": "refused",
  "huge-text": "as sent",
  "many-keys": "as sent",
};

/** These affect collections only. */
const collectionFaults: readonly FaultName[] = [
  ...([
    "next-self",
    "next-earlier",
    "next-endless",
    "next-beyond",
    "next-missing",
    "wrong-total",
    "drift",
  ] as const),
  ...(["null-collection", "empty-collection", "many-items", "items-without-href", "relative-hrefs"] as const),
];
const entityFaults = faultNames.filter(
  (name) => !testedElsewhere.includes(name) && !collectionFaults.includes(name),
);

describe("responses", () => {
  it("every fault of a response has the expected outcome, affects no other resource, and is repaired by the next sync", async () => {
    await using rig = await startRig({ brands: 12, models: 120, sizes: 120 });
    // A correct response between two faults keeps the circuit breaker closed.
    const rules = entityFaults.map((fault, index) => ({
      fault,
      kind: "model" as const,
      positions: [2 * index + 1],
    }));
    rig.sandbox.setFaults(rules.map((rule) => ({ ...rule, times: "always", millis: 0 })));
    const report = await rig.sync({ concurrency: 1 });

    const faultOf = faultsByUrl(rig);
    const found = Object.fromEntries([...faultOf].map(([url, fault]) => [fault, outcomeOf(rig, url)]));
    expect(found).toEqual(Object.fromEntries(entityFaults.map((name) => [name, outcomes[name]])));
    expect(report).toMatchObject({ stopped: null, complete: false, resources: { pending: 0 } });
    expect(report.resources.failed).toBe(
      Object.values(found).filter((outcome) => outcome === "refused").length,
    );
    expect(wronglyHeld(rig, faultOf)).toEqual([]);
    expect(rig.read(problemsOf)).toEqual([]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);

    await expectRepaired(rig, faultOf);
  });
});

describe("lists", () => {
  it("every fault of a list ends the crawl of that list, affects no other brand, and is repaired by the next sync", async () => {
    await using rig = await startRig({ brands: 16, models: 80, sizes: 80, pageSize: 2, paginateSizes: true });
    const firstPages = [...rig.sandbox.truth()].filter(
      ({ kind, body }) => kind === "models" && !body.meta.prev,
    );
    const rules = collectionFaults.map((fault, index) => ({
      fault,
      kind: "models" as const,
      positions: [index + 1],
    }));
    rig.sandbox.setFaults(rules.map((rule) => ({ ...rule, times: "always" })));
    expect(firstPages.length).toBeGreaterThan(collectionFaults.length);
    const report = await rig.sync({ concurrency: 1 });

    const faultOf = faultsByUrl(rig);
    expect(new Set(faultOf.values())).toEqual(new Set(collectionFaults));
    expect(report).toMatchObject({ stopped: null, resources: { pending: 0, failed: 2, gone: 0 } });
    expect(wronglyHeld(rig, faultOf)).toEqual([]);
    expect(rig.read(problemsOf)).toEqual([]);

    await expectRepaired(rig, faultOf);
  });
});

/** The fault of each URL. */
function faultsByUrl({ sandbox }: Rig): Map<string, string> {
  const known = new Set([...sandbox.truth()].map(({ url }) => url));
  return new Map(sandbox.log().flatMap(({ url, fault }) => (fault && known.has(url) ? [[url, fault]] : [])));
}

function outcomeOf(rig: Rig, url: string): Outcome {
  const body = rig.read(currentBodies).get(url);
  if (body === undefined) return "refused";
  return body === truthOf(rig).get(url) ? "whole" : "as sent";
}

/** Held resources that had no fault and differ from the truth. */
function wronglyHeld(rig: Rig, faultOf: ReadonlyMap<string, string>): string[] {
  const truth = truthOf(rig);
  return [...rig.read(currentBodies)]
    .filter(([url, body]) => !faultOf.has(url) && truth.get(url) !== body && !url.includes("again="))
    .map(([url]) => url);
}

async function expectRepaired(rig: Rig, faultOf: ReadonlyMap<string, string>): Promise<void> {
  rig.sandbox.setFaults([]);
  expect(await rig.sync()).toMatchObject({ complete: true, resources: { failed: 0 } });
  // An ETag that was sent with two bodies hides the second one from conditional requests.
  const hidden = [...faultOf].filter(([, fault]) => fault === "same-etag-other-body").map(([url]) => url);
  const differences = differencesFromTruth(rig).filter(
    (text) => !hidden.some((url) => text.includes(` ${url} is `)),
  );
  expect(differences).toEqual([]);
}
