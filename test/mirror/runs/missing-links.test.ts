/** A mirror without a link that leads to more data is not complete. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readCoverage } from "../../../src/mirror/runs/coverage.ts";
import { type MissingLink, readMissingLinks } from "../../../src/mirror/runs/missing-links.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { crawl, type MirrorRig, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, type World, worldOf } from "../support/world.ts";

let rig: MirrorRig;
let mirror: MirrorWriter;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
  mirror = await rig.write();
});

type Links = Readonly<Record<string, unknown>>;

/** One brand with one model, which has one size. The lists have no pages and state their sizes. */
function worldWith(links: { root?: Links; brand?: Links; model?: Links } = {}): World {
  const one = { collection_total: 1 };
  return worldOf({
    "/": root(links.root ?? { brands: urlOf("brands/") }),
    "brands/": page(["b/"], null, {}, one),
    "b/": entity({ name: "b" }, links.brand ?? { models: urlOf("b/models/") }),
    "b/models/": page(["m/"], null, {}, one),
    "m/": entity({ name: "m" }, links.model ?? { sizes: urlOf("m/sizes/") }),
    "m/sizes/": page(["s/"], null, {}, one),
    "s/": entity({ size: "s" }),
  });
}

const missing = (): readonly MissingLink[] => readMissingLinks(mirror.db);
const isComplete = (...tables: readonly string[]) =>
  readCoverage({ db: mirror.db, asOf: null }, tables.length === 0 ? undefined : tables).complete;

it("a mirror whose resources have all their links is complete; other links may be absent", () => {
  crawl(mirror, worldWith());
  expect(missing()).toEqual([]);
  expect(isComplete()).toBe(true);
});

describe.each<[string, unknown]>([
  ["absent", undefined],
  ["null", null],
  ["a number", 5],
  ["at another origin", "https://elsewhere.example/"],
  ["the address of a resource of another kind", urlOf("/")],
])("a link that is %s", (_title, link) => {
  it.each([
    [{ root: { brands: link } }, { url: urlOf("/"), name: "brands", kind: "brands" }, ["brand"]],
    [{ brand: { models: link } }, { url: urlOf("b/"), name: "models", kind: "models" }, ["model"]],
    [{ model: { sizes: link } }, { url: urlOf("m/"), name: "sizes", kind: "sizes" }, ["size"]],
  ])("makes the tables behind it incomplete: %o", (links, expected, tables) => {
    crawl(mirror, worldWith(links));
    expect(missing()).toEqual([expected]);
    expect(isComplete()).toBe(false);
    expect(isComplete(...tables)).toBe(false);
    const { kinds } = readCoverage({ db: mirror.db, asOf: null });
    expect(kinds.find(({ kind }) => kind === expected.kind)).toMatchObject({ known: 0, missingLinks: 1 });
    crawl(mirror, worldWith());
    expect(missing()).toEqual([]);
    expect(isComplete()).toBe(true);
  });
});

it("an absent list of sizes leaves the tables of brands and models complete", () => {
  crawl(mirror, worldWith({ model: {} }));
  expect(isComplete("brand", "model", "model_picture")).toBe(true);
  expect(isComplete("size")).toBe(false);
});

it("a scope counts only links to its kinds, from its resources", () => {
  crawl(mirror, worldWith({ brand: {}, root: { brands: urlOf("brands/") } }));
  const count = (kinds: readonly string[], belowIds: readonly number[] | null = null) =>
    readMissingLinks(mirror.db, { kinds, belowIds }).length;
  expect(count(["root", "brands", "brand"])).toBe(0);
  expect(count(["root", "brands", "brand", "models", "model"])).toBe(1);
  expect(count(["root", "brands", "brand", "models", "model"], [0])).toBe(0);
});

describe("an account", () => {
  const accountWorld = (rootLinks: Links, links: Links): World =>
    worldOf({
      "/": root(rootLinks),
      "me/": entity({ username: "anna" }, links),
      "me/bras/": page([], null, {}, { collection_total: 0 }),
    });
  const crawlAccount = async (rootLinks: Links, links: Links): Promise<readonly MissingLink[]> => {
    await using other = await startMirrorRig();
    const account = await other.write({ area: "account" });
    crawl(account, accountWorld(rootLinks, links));
    return readMissingLinks(account.db);
  };
  const me = { me: urlOf("me/") };

  it("may lack the links that its token does not grant", async () => {
    expect(await crawlAccount(me, { bras: urlOf("me/bras/"), measurements: null })).toEqual([]);
    expect(await crawlAccount(me, {})).toEqual([]);
    expect(await crawlAccount({ me: null }, {})).toEqual([]);
  });

  it("is not complete with an invalid link to its user, or to a list", async () => {
    expect(await crawlAccount({ me: 5 }, {})).toEqual([{ url: urlOf("/"), name: "me", kind: "me" }]);
    for (const bras of [5, "https://elsewhere.example/", ""])
      expect(await crawlAccount(me, { bras })).toEqual([{ url: urlOf("me/"), name: "bras", kind: "bras" }]);
  });
});
