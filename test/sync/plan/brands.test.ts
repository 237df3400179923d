import { describe, expect, it } from "vitest";
import type { TruthRecord } from "../../../src/sandbox/resources/catalogue.ts";
import { urlsOf } from "../support/requests.ts";
import { type Rig, startRig } from "../support/rig.ts";

/** Paths show nothing. */
const opaque = { layout: "opaque", pagination: "cursor", serviceName: "other" } as const;
const world = { brands: 12, models: 24, sizes: 60, pageSize: 5 };

/** Names that users may type. */
const spellings = [
  ["its listed name", 'Anna "the Fit" Corsetry'],
  ["its name in another case", 'ANNA "The Fit" corsetry'],
  ["the slug of its name", "anna-the-fit-corsetry"],
  ["its name without the punctuation", "Anna the Fit Corsetry"],
  ["a slug that drops accents", "plie-soft-co"],
  ["a name that looks like a formula", "=1+1"],
] as const;

describe("--brand", () => {
  it.each(spellings)("one brand is found by %s, and no other brand is requested", async (_spelling, name) => {
    await using rig = await startRig(world);
    const report = await rig.sync({ brands: [name] });
    expect(report).toMatchObject({ complete: true, resources: { failed: 0, pending: 0 } });
    expect(urlsOf(rig.sandbox.log())).toEqual(urlsBelow(rig, [findBrand(rig, name)]));
  });

  it("one brand is found by its URL", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.clearLog();
    const [, brand] = brandsOf(rig);
    await rig.sync({ brands: [brand?.url ?? ""] });
    const requested = urlsOf(rig.sandbox.log());
    expect(requested.length).toBeGreaterThan(0);
    expect(urlsBelow(rig, [brand])).toEqual(expect.arrayContaining(requested));
  });

  it("one brand can be fetched together with another one, each with all its resources", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const [first, second] = brandsOf(rig);
    await rig.sync({ brands: [nameOf(first), nameOf(second)] });
    expect(urlsOf(rig.sandbox.log())).toEqual(urlsBelow(rig, [first, second]));
  });

  it("one brand is found by its held slug, without a request for the list", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.clearLog();
    const brand = findBrand(rig, "plie-soft-co");
    await rig.sync({ brands: ["plie-soft-co"] });
    const kinds = new Set(rig.sandbox.log().map(({ url }) => kindIn(rig, url)));
    expect(kinds).toEqual(new Set(["models", "model", "sizes", "size"]));
    expect(urlsBelow(rig, [brand])).toEqual(expect.arrayContaining(urlsOf(rig.sandbox.log())));
  });

  it("a brand that is not found within the budget leaves the run incomplete", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const report = await rig.sync({ brands: ["unknown"], budget: 1 });
    expect(report).toMatchObject({ complete: false, stopped: "budget" });
    expect(report.resources.pending).toBeGreaterThan(0);
  });

  it("a brand that is not listed is rejected with similar names, after requesting only the list", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const [brand] = brandsOf(rig);
    const start = nameOf(brand).slice(0, 5);
    await expect(rig.sync({ brands: [`${start}zzz`] })).rejects.toMatchObject({
      code: "unknown-brand",
      message: `The service lists no brand called "${start}zzz".`,
      hint: expect.stringContaining(`Did you mean ${JSON.stringify(nameOf(brand))}`),
    });
    expect(new Set(rig.sandbox.log().map(({ url }) => kindIn(rig, url)))).toEqual(
      new Set(["root", "brands"]),
    );
    expect(rig.read(({ db }) => db.prepare("select stopped from _run").pluck().all())).toEqual(["error"]);
  });

  it("a brand that a fresh list does not have is rejected without a request or a run", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.clearLog();
    await expect(rig.sync({ brands: ["unknown"] })).rejects.toMatchObject({ code: "unknown-brand" });
    expect(rig.sandbox.log()).toEqual([]);
    expect(rig.read(({ db }) => db.prepare("select count(*) from _run").pluck().get())).toBe(1);
  });

  it("a brand is searched in the rest of the list if an earlier run read only its beginning", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ budget: 2 });
    const last = brandsOf(rig).at(-1);
    expect(await rig.sync({ brands: [nameOf(last)] })).toMatchObject({ complete: true });
  });

  it("a brand that was added since the last sync is found in the current list", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.advance({ additions: 1, kind: "brand" });
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    const added = brandsOf(rig).find((record) => !isHeld(rig, record.url));
    expect(await rig.sync({ brands: [nameOf(added)] })).toMatchObject({ complete: true });
    expect(isHeld(rig, added?.url ?? "")).toBe(true);
  });

  it("one brand has its own links followed with --follow", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const [brand] = brandsOf(rig);
    await rig.sync({ brands: [nameOf(brand)], depth: "brands", follow: ["related"] });
    expect(urlsOf(rig.sandbox.log())).toContain(String(brand?.body.links.related));
  });
});

it("a failed page of the list does not make a brand unknown", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brands", positions: [2], times: "always", fault: "not-json" }]);
  const last = brandsOf(rig).at(-1);
  const report = await rig.sync({ brands: [nameOf(last)] });
  expect(report).toMatchObject({ complete: false, resources: { failed: 1 } });
  rig.sandbox.setFaults([]);
  expect(await rig.sync({ brands: [nameOf(last)] })).toMatchObject({ complete: true });
});

it("an unreachable service does not make a brand unknown", async () => {
  await using rig = await startRig(world);
  await rig.sandbox.close();
  await expect(rig.sync({ brands: ["any"] })).rejects.toMatchObject({ code: "nothing-fetched" });
});

function brandsOf({ sandbox }: Rig): TruthRecord[] {
  return [...sandbox.truth()].filter(({ kind }) => kind === "brand");
}

function nameOf(record: TruthRecord | undefined): string {
  return String(record?.body.body?.name);
}

/** By slug, or by name without regard to case and punctuation. */
function findBrand(rig: Rig, name: string): TruthRecord | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");
  return brandsOf(rig).find(
    (record) => record.body.body?.slug === name || plain(nameOf(record)) === plain(name),
  );
}

/** The URLs of the root, the list, and all resources of these brands, found by links. */
function urlsBelow({ sandbox }: Rig, brands: readonly (TruthRecord | undefined)[]): string[] {
  const truth = [...sandbox.truth()];
  const listing = truth.filter(({ kind }) => kind === "root" || kind === "brands").map(({ url }) => url);
  const below = new Set(brands.map((brand) => brand?.url ?? "no such brand"));
  let size = -1;
  while (size !== below.size) {
    size = below.size;
    for (const { url, body } of truth) {
      if (!below.has(url)) continue;
      for (const target of [body.links.models, body.links.sizes, body.meta.next]) {
        if (typeof target === "string") below.add(target);
      }
      for (const item of body.collection ?? []) below.add(String(item.href));
    }
  }
  return [...listing, ...below].sort();
}

function kindIn({ sandbox }: Rig, url: string): string | undefined {
  return [...sandbox.truth({ optional: true })].find((record) => record.url === url)?.kind;
}

function isHeld(rig: Rig, url: string): boolean {
  return rig.read(
    ({ db }) => db.prepare("select 1 from _resource where url = ? and state = 'held'").get(url) !== undefined,
  );
}
