import { describe, expect, it } from "vitest";
import { type FaultName, faultNames } from "../../src/sandbox/faults/faults.ts";
import { currentBodies } from "../support/current-bodies.ts";
import { differencesFromTruth, problemsOf } from "./support/compare-with-truth.ts";
import { type Rig, startRig } from "./support/rig.ts";

/**
 * What becomes of a resource that meets the fault every time: it comes through as it is, or as it was sent, odd but the
 * API's own, or it is refused and tried again by a later run.
 */
type Fate = "whole" | "as sent" | "refused";

/** They end the run, wait for deadlines that a sync does not shorten, or never end; tests of the door cover them. */
const elsewhere: readonly FaultName[] = [
  ...(["not-authenticated", "allowance-spent", "stall", "stall-headers", "drip-headers"] as const),
];

const fates: Partial<Record<FaultName, Fate>> = {
  status: "refused",
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

/** These do something to collections only. */
const ofPages: readonly FaultName[] = [
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
const ofEntities = faultNames.filter((name) => !elsewhere.includes(name) && !ofPages.includes(name));

describe("each fault of an answer, on a model of its own", () => {
  it("has its fate, keeps no other resource from being held, and is healed by the next sync", async () => {
    await using rig = await startRig({ brands: 12, models: 120, sizes: 120 });
    // Between two faults there is an answer that is right: a service that is down is another matter.
    const rules = ofEntities.map((fault, index) => ({
      fault,
      kind: "model" as const,
      positions: [2 * index + 1],
    }));
    rig.sandbox.setFaults(rules.map((rule) => ({ ...rule, times: "always", millis: 0 })));
    const report = await rig.sync({ concurrency: 1 });

    const faultOf = faultsMet(rig);
    const met = Object.fromEntries([...faultOf].map(([url, fault]) => [fault, fateOf(rig, url)]));
    expect(met).toEqual(Object.fromEntries(ofEntities.map((name) => [name, fates[name]])));
    expect(report).toMatchObject({ stopped: null, complete: false, resources: { pending: 0 } });
    expect(report.resources.failed).toBe(Object.values(met).filter((fate) => fate === "refused").length);
    expect(heldOtherThan(rig, faultOf)).toEqual([]);
    expect(problemsOf(rig)).toEqual([]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);

    await expectHealed(rig, faultOf);
  });
});

describe("each fault of a listing, on the models of a brand of its own", () => {
  it("ends, keeps what it listed and all other brands, and is healed by the next sync", async () => {
    await using rig = await startRig({ brands: 16, models: 80, sizes: 80, pageSize: 2, paginateSizes: true });
    const firstPages = [...rig.sandbox.truth()].filter(
      ({ kind, body }) => kind === "models" && !body.meta.prev,
    );
    const rules = ofPages.map((fault, index) => ({ fault, kind: "models" as const, positions: [index + 1] }));
    rig.sandbox.setFaults(rules.map((rule) => ({ ...rule, times: "always" })));
    expect(firstPages.length).toBeGreaterThan(ofPages.length);
    const report = await rig.sync({ concurrency: 1 });

    const faultOf = faultsMet(rig);
    expect(new Set(faultOf.values())).toEqual(new Set(ofPages));
    expect(report).toMatchObject({ stopped: null, resources: { pending: 0, failed: 2, gone: 0 } });
    expect(heldOtherThan(rig, faultOf)).toEqual([]);
    expect(problemsOf(rig)).toEqual([]);

    await expectHealed(rig, faultOf);
  });
});

/** URL to the fault that it met. */
function faultsMet({ sandbox }: Rig): Map<string, string> {
  const known = new Set([...sandbox.truth()].map(({ url }) => url));
  return new Map(sandbox.log().flatMap(({ url, fault }) => (fault && known.has(url) ? [[url, fault]] : [])));
}

function fateOf(rig: Rig, url: string): Fate {
  const body = rig.read(currentBodies).get(url);
  if (body === undefined) return "refused";
  return body === truthOf(rig).get(url) ? "whole" : "as sent";
}

/** What is held and is neither the truth nor something that met a fault. */
function heldOtherThan(rig: Rig, faultOf: ReadonlyMap<string, string>): string[] {
  const truth = truthOf(rig);
  return [...rig.read(currentBodies)]
    .filter(([url, body]) => !faultOf.has(url) && truth.get(url) !== body && !url.includes("again="))
    .map(([url]) => url);
}

async function expectHealed(rig: Rig, faultOf: ReadonlyMap<string, string>): Promise<void> {
  rig.sandbox.setFaults([]);
  expect(await rig.sync()).toMatchObject({ complete: true, resources: { failed: 0 } });
  // A validator that was given to two bodies hides the second one from every conditional request.
  const hidden = [...faultOf].filter(([, fault]) => fault === "same-etag-other-body").map(([url]) => url);
  const differences = differencesFromTruth(rig).filter(
    (text) => !hidden.some((url) => text.includes(` ${url} is `)),
  );
  expect(differences).toEqual([]);
}

function truthOf({ sandbox }: Rig): Map<string, string> {
  return new Map([...sandbox.truth()].map(({ url, body }) => [url, JSON.stringify(body)]));
}
