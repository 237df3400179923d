import { describe, expect, it } from "vitest";
import type { TruthRecord } from "../../src/sandbox/resources/catalogue.ts";
import { urlsOf } from "./support/requests.ts";
import { type Rig, startRig } from "./support/rig.ts";

/** Where nothing can be told from a path. */
const opaque = { layout: "opaque", pagination: "cursor", serviceName: "other" } as const;
const world = { brands: 12, models: 24, sizes: 60, pageSize: 5 };

/** What a person may call a brand by. */
const callings = [
  ["its listed name", 'Anna "the Fit" Corsetry'],
  ["its name in other letters", 'ANNA "The Fit" corsetry'],
  ["what its name becomes as a slug", "anna-the-fit-corsetry"],
  ["its name without the punctuation", "Anna the Fit Corsetry"],
  ["a slug that drops accents", "plie-soft-co"],
  ["a name that looks like a formula", "=1+1"],
] as const;

describe("one brand", () => {
  it.each(callings)("is found by %s, and no other brand is asked for", async (_what, wanted) => {
    await using rig = await startRig(world);
    const report = await rig.sync({ brands: [wanted] });
    expect(report).toMatchObject({ complete: true, resources: { failed: 0, pending: 0 } });
    expect(urlsOf(rig.sandbox.log())).toEqual(urlsBelow(rig, [findBrand(rig, wanted)]));
  });

  it("is found by its URL, wherever that leads", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.clearLog();
    const [, brand] = brandsOf(rig);
    await rig.sync({ brands: [brand?.url ?? ""] });
    const asked = urlsOf(rig.sandbox.log());
    expect(asked.length).toBeGreaterThan(0);
    expect(urlsBelow(rig, [brand])).toEqual(expect.arrayContaining(asked));
  });

  it("and another one are fetched together, each with all that belongs to it", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const [first, second] = brandsOf(rig);
    await rig.sync({ brands: [nameOf(first), nameOf(second)] });
    expect(urlsOf(rig.sandbox.log())).toEqual(urlsBelow(rig, [first, second]));
  });

  it("is found by the slug that the mirror holds, without reading the listing again", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.clearLog();
    const brand = findBrand(rig, "plie-soft-co");
    await rig.sync({ brands: ["plie-soft-co"] });
    const kinds = new Set(rig.sandbox.log().map(({ url }) => kindIn(rig, url)));
    expect(kinds).toEqual(new Set(["models", "model", "sizes", "size"]));
    expect(urlsBelow(rig, [brand])).toEqual(expect.arrayContaining(urlsOf(rig.sandbox.log())));
  });

  it("that is not found before the budget is spent leaves the run incomplete", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const report = await rig.sync({ brands: ["nobody"], budget: 1 });
    expect(report).toMatchObject({ complete: false, stopped: "budget" });
    expect(report.resources.pending).toBeGreaterThan(0);
  });

  it("that is not listed is refused with the names that look like it, and nothing else is asked for", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const [brand] = brandsOf(rig);
    const start = nameOf(brand).slice(0, 5);
    await expect(rig.sync({ brands: [`${start}zzz`] })).rejects.toMatchObject({
      code: "unknown-brand",
      message: `The service lists no brand called "${start}zzz"`,
      hint: expect.stringContaining(`Did you mean ${JSON.stringify(nameOf(brand))}`),
    });
    expect(new Set(rig.sandbox.log().map(({ url }) => kindIn(rig, url)))).toEqual(
      new Set(["root", "brands"]),
    );
    expect(rig.read(({ db }) => db.prepare("select stopped from _run").pluck().all())).toEqual(["error"]);
  });

  it("that the list just read does not name is refused without a request and without a run", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.clearLog();
    await expect(rig.sync({ brands: ["nobody"] })).rejects.toMatchObject({ code: "unknown-brand" });
    expect(rig.sandbox.log()).toEqual([]);
    expect(rig.read(({ db }) => db.prepare("select count(*) from _run").pluck().get())).toBe(1);
  });

  it("is looked for in the list where an earlier run has not read all of that", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ budget: 2 });
    const last = brandsOf(rig).at(-1);
    expect(await rig.sync({ brands: [nameOf(last)] })).toMatchObject({ complete: true });
  });

  it("that has appeared since the last sync is found in the listing as it now is", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    await rig.sync({ depth: "brands" });
    rig.sandbox.advance({ additions: 1, kind: "brand" });
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    const added = brandsOf(rig).find((record) => !isHeld(rig, record.url));
    expect(await rig.sync({ brands: [nameOf(added)] })).toMatchObject({ complete: true });
    expect(isHeld(rig, added?.url ?? "")).toBe(true);
  });

  it("with --follow, has its own links followed", async () => {
    await using rig = await startRig({ ...opaque, ...world });
    const [brand] = brandsOf(rig);
    await rig.sync({ brands: [nameOf(brand)], depth: "brands", follow: ["related"] });
    expect(urlsOf(rig.sandbox.log())).toContain(String(brand?.body.links.related));
  });
});

it("a listing that cannot be read does not make a brand unknown", async () => {
  await using rig = await startRig(world);
  rig.sandbox.setFaults([{ kind: "brands", positions: [2], times: "always", fault: "not-json" }]);
  const last = brandsOf(rig).at(-1);
  const report = await rig.sync({ brands: [nameOf(last)] });
  expect(report).toMatchObject({ complete: false, resources: { failed: 1 } });
  rig.sandbox.setFaults([]);
  expect(await rig.sync({ brands: [nameOf(last)] })).toMatchObject({ complete: true });
});

it("a service that cannot be reached does not make a brand unknown", async () => {
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
function findBrand(rig: Rig, wanted: string): TruthRecord | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");
  return brandsOf(rig).find(
    (record) => record.body.body?.slug === wanted || plain(nameOf(record)) === plain(wanted),
  );
}

/** The front page, the listing, and everything that belongs to these brands, found by links. */
function urlsBelow({ sandbox }: Rig, brands: readonly (TruthRecord | undefined)[]): string[] {
  const truth = [...sandbox.truth()];
  const listing = truth.filter(({ kind }) => kind === "root" || kind === "brands").map(({ url }) => url);
  const wanted = new Set(brands.map((brand) => brand?.url ?? "no such brand"));
  let size = -1;
  while (size !== wanted.size) {
    size = wanted.size;
    for (const { url, body } of truth) {
      if (!wanted.has(url)) continue;
      for (const target of [body.links.models, body.links.sizes, body.meta.next]) {
        if (typeof target === "string") wanted.add(target);
      }
      for (const item of body.collection ?? []) wanted.add(String(item.href));
    }
  }
  return [...listing, ...wanted].sort();
}

function kindIn({ sandbox }: Rig, url: string): string | undefined {
  return [...sandbox.truth({ optional: true })].find((record) => record.url === url)?.kind;
}

function isHeld(rig: Rig, url: string): boolean {
  return rig.read(
    ({ db }) => db.prepare("select 1 from _resource where url = ? and state = 'held'").get(url) !== undefined,
  );
}
