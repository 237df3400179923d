/** Full-text search: scripts, ranking, tombstones, suggestions, and the past. */
import fc from "fast-check";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createAsOfViews } from "../../src/mirror/past/as-of.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { type SearchOptions, search } from "../../src/query/search.ts";
import { suggestSearch } from "../../src/query/suggest-search.ts";
import { crawl, type MirrorRig, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../mirror/support/world.ts";

type Names = Readonly<Record<string, string>>;

/** Brands by path, each with its models by path. */
interface Catalogue {
  readonly brands: Names;
  readonly models?: Readonly<Record<string, Names>>;
  /** By path. Default: 1. */
  readonly braCounts?: Readonly<Record<string, number>>;
}

function bodiesOf({ brands, models = {}, braCounts = {} }: Catalogue): Map<string, string> {
  const item = ([path, name]: readonly [string, string]) => ({ href: urlOf(path), name });
  const list = (items: Names) => ({ ...page([]), collection: Object.entries(items).map(item) });
  const count = (path: string) => ({ bra_count: braCounts[path] ?? 1 });
  return worldOf({
    "/": root(),
    "brands/": list(brands),
    ...Object.fromEntries(
      Object.entries(brands).flatMap(([path, name]) => [
        [path, entity({ name, ...count(path) }, { models: urlOf(`${path}models/`) })],
        [`${path}models/`, list(models[path] ?? {})],
        ...Object.entries(models[path] ?? {}).map(([model, modelName]) => [
          model,
          entity(
            { name: modelName, code: `C-${model.replace("/", "")}`, ...count(model) },
            { brand: urlOf(path) },
          ),
        ]),
      ]),
    ),
  });
}

async function mirrorOf(...catalogues: readonly Catalogue[]): Promise<MirrorRig> {
  const rig = await startMirrorRig();
  const mirror = await rig.write();
  for (const catalogue of catalogues) crawl(mirror, bodiesOf(catalogue), { approve: true });
  mirror.close();
  return rig;
}

const find = (rig: MirrorRig, text: string, options?: SearchOptions) =>
  rig.read((mirror) => search(mirror, text, options));
const namesFound = (rig: MirrorRig, text: string, options?: SearchOptions) =>
  find(rig, text, options).map(({ name }) => name);

const scripts = {
  "latin/": "Étoile Søster",
  "greek/": "Ελληνίς",
  "cyrillic/": "Ёлочка",
  "arabic/": "خَيَّاط",
  "hebrew/": "שָׁלוֹם",
  "thai/": "ชุดชั้นในลูกไม้",
  "chinese/": "上海内衣",
  "japanese/": "日本の下着",
  "korean/": "란제리하우스",
  "emoji/": "Beach 🩱",
  "marks/": "Zoe\u0308 a\u0323\u0302",
  "signs/": "???",
};

describe("scripts and syntax", () => {
  let rig: MirrorRig;
  beforeAll(async () => {
    rig = await mirrorOf({ brands: scripts });
    return () => rig[Symbol.asyncDispose]();
  });

  it.each([
    ["etoile", "latin/"],
    ["ETOI sost", "latin/"],
    ["ελληνισ", "greek/"],
    ["ΕΛΛ", "greek/"],
    ["елочка", "cyrillic/"],
    ["ЁЛО", "cyrillic/"],
    ["خياط", "arabic/"],
    ["שלום", "hebrew/"],
    ["ลูก", "thai/"],
    ["ชั้นใน", "thai/"],
    ["衣", "chinese/"],
    ["海内", "chinese/"],
    ["下着", "japanese/"],
    ["の", "japanese/"],
    ["제리", "korean/"],
    ["🩱", "emoji/"],
    ["zoë ậ", "marks/"],
    ["???", "signs/"],
  ])("%s finds only the brand with this word", (text, path) => {
    expect(find(rig, text).map(({ href }) => href)).toEqual([urlOf(path)]);
  });

  it.each(["toile", "内海", "本日", "ラ", "", " ", "\u0000"])(
    "%j, which begins no word, finds nothing",
    (text) => {
      expect(find(rig, text)).toEqual([]);
    },
  );

  it("every name is found by itself", () => {
    for (const [path, name] of Object.entries(scripts))
      expect(find(rig, name).map(({ href }) => href)).toContain(urlOf(path));
  });

  it.each([
    '"',
    "'",
    "a*",
    "*",
    "-a",
    "a AND",
    "NOT",
    "NEAR(a b)",
    "text:a",
    "^a",
    "(",
    "{a b}:",
    "a\u0000b",
    "\ud800",
  ])("%j is searched as text, not as syntax", (text) => {
    expect(() => find(rig, text)).not.toThrow();
  });

  it("no text is an error", () => {
    const signs = fc.constantFrom(
      ..."\"'*-+^:(){}[]|&~\u0000\ud800\udfff",
      " AND ",
      " OR ",
      " NOT ",
      " NEAR ",
    );
    rig.read((mirror) =>
      fc.assert(
        fc.property(
          fc.oneof(
            fc.string({ unit: "binary" }),
            fc.array(fc.oneof(signs, fc.string())).map((parts) => parts.join("")),
          ),
          (text) => {
            search(mirror, text);
            search(mirror, `étoile ${text}`, { gone: true });
          },
        ),
        { numRuns: 300 },
      ),
    );
  });

  it("a very long text finds nothing and is no error", () => {
    expect(find(rig, "衣".repeat(20_000))).toEqual([]);
    expect(find(rig, Array.from({ length: 300 }, (_, n) => `e${n}`).join(" "))).toEqual([]);
  });
});

it("results are ordered by exact name, whole words, then prefixes, each by how many bras users own", async () => {
  await using rig = await mirrorOf({
    brands: { "a/": "Lace", "b/": "Lacework", "c/": "Fine Lace", "d/": "Fine Lace Two", "e/": "Laces" },
    braCounts: { "a/": 1, "b/": 50, "c/": 10, "d/": 20, "e/": 90 },
  });
  expect(namesFound(rig, "lace")).toEqual(["Lace", "Fine Lace Two", "Fine Lace", "Laces", "Lacework"]);
  expect(namesFound(rig, "lace", { limit: 2 })).toEqual(["Lace", "Fine Lace Two"]);
});

it("a model is found by words of its name, its code and its brand in any order", async () => {
  await using rig = await mirrorOf({
    brands: { "a/": "Comexim", "b/": "Ewa" },
    models: { "a/": { "m1/": "Onyx", "m2/": "Rose" }, "b/": { "m3/": "Onyx" } },
    braCounts: { "m3/": 5 },
  });
  expect(namesFound(rig, "comexim")).toEqual(["Comexim", "Onyx", "Rose"]);
  expect(find(rig, "ony come")).toEqual([
    {
      ...{ kind: "model", name: "Onyx", code: "C-m1", brand: "Comexim", bra_count: 1n, state: "held" },
      // Without slugs, the URL is the key.
      ...{ href: urlOf("m1/"), key: urlOf("m1/") },
    },
  ]);
  expect(namesFound(rig, "onyx rose")).toEqual([]);
  expect(find(rig, "c-m2").map(({ href }) => href)).toEqual([urlOf("m2/")]);
  expect(find(rig, "onyx").map(({ brand }) => brand)).toEqual(["Ewa", "Comexim"]);
  expect(find(rig, "comexim", { kind: "brand" }).map(({ kind }) => kind)).toEqual(["brand"]);
});

it("a model that is only listed is found by its listed name and its brand", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = bodiesOf({ brands: { "a/": "Comexim" }, models: { "a/": { "m/": "Onyx" } } });
  crawl(mirror, world, { maxBatches: 4 });
  expect(search(mirror, "comexim onyx")).toEqual([
    {
      kind: "model",
      name: "Onyx",
      code: null,
      brand: "Comexim",
      bra_count: null,
      state: "listed",
      href: urlOf("m/"),
      key: null,
    },
  ]);
  crawl(mirror, world);
  expect(search(mirror, "comexim onyx")).toMatchObject([{ state: "held", code: "C-m" }]);
});

it("tombstones are left out by default, and come last with `gone`", async () => {
  await using rig = await mirrorOf(
    { brands: { "a/": "Lace", "b/": "Lace Two" }, braCounts: { "a/": 9 } },
    { brands: { "b/": "Lace Two" } },
  );
  expect(namesFound(rig, "lace")).toEqual(["Lace Two"]);
  expect(find(rig, "lace", { gone: true })).toMatchObject([
    { name: "Lace Two", state: "held" },
    { name: "Lace", state: "gone" },
  ]);
});

it("a search without results suggests similar texts and counts matching tombstones", async () => {
  await using rig = await mirrorOf(
    {
      brands: { "a/": "Comexim", "b/": "Été Lingerie", "c/": "Lace" },
      models: { "a/": { "m/": "Onyx", "n/": "Onyx Deux" } },
    },
    { brands: { "a/": "Comexim", "b/": "Été Lingerie" }, models: { "a/": { "m/": "Onyx" } } },
  );
  const suggest = (text: string, kind?: "brand" | "model") =>
    rig.read((mirror) => suggestSearch(mirror, text, kind && { kind }));
  expect(suggest("comexin")).toEqual({ gone: 0, similar: ["Comexim"] });
  expect(suggest("onyx comexin")).toEqual({ gone: 0, similar: ["onyx comexim"] });
  expect(suggest("lingrie", "brand").similar[0]).toBe("lingerie");
  expect(suggest("etelingerie").similar[0]).toBe("Été Lingerie");
  expect(suggest("onyx deux")).toMatchObject({ gone: 1 });
  expect(suggest("lac")).toMatchObject({ gone: 1 });
  expect(suggest("qqqq")).toEqual({ gone: 0, similar: [] });
  expect(suggest("onyxx", "brand").similar).toEqual([]);
});

it("brands with lone surrogates or very long names are found, and break no suggestion", async () => {
  const brands = { "a/": "Lace\ud800 Two", "b/": "Comexim", "c/": `Freya ${"x".repeat(1_000_000)} hidden` };
  await using rig = await mirrorOf({ brands });
  const suggest = (text: string) => rig.read((mirror) => suggestSearch(mirror, text).similar);
  expect(namesFound(rig, "lace two")).toEqual(["Lace\ud800 Two"]);
  expect(suggest("comexin")).toEqual(["Comexim"]);
  expect(suggest("nothing of the kind")).toEqual([]);
  expect(namesFound(rig, "freya")).toHaveLength(1);
  expect(namesFound(rig, "hidden")).toEqual([]);
});

it("every suggested text finds something", async () => {
  await using rig = await mirrorOf({ brands: scripts }, { brands: { "latin/": scripts["latin/"] } });
  const texts = fc.oneof(
    fc.string(),
    fc
      .constantFrom(...Object.values(scripts))
      .chain((name) => fc.nat(name.length).map((at) => name.slice(0, at) + name.slice(at + 1))),
  );
  rig.read((mirror) =>
    fc.assert(
      fc.property(texts, (text) => {
        for (const query of suggestSearch(mirror, text).similar)
          expect(search(mirror, query)).not.toEqual([]);
      }),
    ),
  );
});

it("bras are found by their name, brand, model and note", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write({ area: "account" });
  const world = worldOf({
    "/": root({ me: urlOf("me/") }),
    "me/": entity({ username: "anna" }, { bras: urlOf("bras/") }),
    "bras/": { ...page([]), collection: [{ href: urlOf("x/"), name: "The red one" }] },
    "x/": entity({ name: "The red one", brand: "Comexim", model: "Onyx", note: "for Sundays" }),
  });
  crawl(mirror, world);
  const bra = { kind: "bra", name: "The red one", brand: "Comexim", bra_count: null, href: urlOf("x/") };
  for (const text of ["red", "comexim onyx", "sunday"]) expect(search(mirror, text)).toMatchObject([bra]);
});

it("as of a run, resources are found by the names that they had then", async () => {
  await using rig = await mirrorOf({ brands: { "a/": "Before" } }, { brands: { "a/": "After" } });
  const foundAsOf = (run: number, text: string) => {
    const mirror = openMirrorReader(rig.file);
    onTestFinished(() => mirror.close());
    createAsOfViews(mirror.db, run);
    return search(mirror, text).map(({ name }) => name);
  };
  expect([foundAsOf(1, "before"), foundAsOf(1, "after")]).toEqual([["Before"], []]);
  expect([foundAsOf(2, "before"), foundAsOf(2, "after")]).toEqual([[], ["After"]]);
  expect([namesFound(rig, "before"), namesFound(rig, "after")]).toEqual([[], ["After"]]);
});

it("as of any run, a search gives the results that it gave when that run ended", async () => {
  await using rig = await startMirrorRig();
  const brands = { "a/": "Comexim", "b/": "Ewa" };
  const models = { "a/": { "m1/": "Onyx", "m2/": "Rose" }, "b/": { "m3/": "Onyx" } };
  const moved = { "a/": { "m2/": "Rose" }, "b/": { "m1/": "Onyx", "m3/": "Onyx" } };
  const lives: readonly (readonly [catalogue: Catalogue, maxBatches: number])[] = [
    [{ brands, models }, 3],
    [{ brands, models }, 4],
    [{ brands, models }, 1000],
    [{ brands, models: moved }, 1000],
    [{ brands: { "a/": "Ewa", "b/": "Comexim" }, models: moved }, 1000],
    [{ brands: { "b/": "Comexim" }, models: { "b/": { "m3/": "Onyx" } } }, 1000],
  ];
  const texts = ["comexim", "ewa", "onyx", "ewa onyx", "comexim rose", "c"];
  const resultsOf = (mirror: Parameters<typeof search>[0]) =>
    texts.map((text) => [text, search(mirror, text, { gone: true })]);
  const mirror = await rig.write();
  const resultsByRun = lives.map(([catalogue, maxBatches]) => {
    crawl(mirror, bodiesOf(catalogue), { maxBatches, approve: true });
    return resultsOf(mirror);
  });
  mirror.close();
  for (const [n, results] of resultsByRun.entries()) {
    const past = openMirrorReader(rig.file, { kind: "run", run: n + 1 });
    onTestFinished(() => past.close());
    expect({ run: n + 1, results: resultsOf(past) }).toEqual({ run: n + 1, results });
  }
});

it("as of a run, a model is not found by a brand that listed it only later", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const worldWith = (listed: readonly string[]) =>
    worldOf({
      ...{ "/": root(), "brands/": page(["a/"]), "a/models/": page(listed) },
      "a/": entity({ name: "Comexim" }, { models: urlOf("a/models/") }),
      "m1/": entity({ name: "Onyx" }, { brand: urlOf("a/"), related: urlOf("m1/related/") }),
      "m1/related/": page(["m2/"]),
      "m2/": entity({ name: "Rose" }),
    });
  const follow = ["related"];
  crawl(mirror, worldWith(["m1/"]), { follow });
  crawl(mirror, worldWith(["m1/", "m2/"]), { follow });
  mirror.close();
  const foundAsOf = (run: number) => {
    const past = openMirrorReader(rig.file, { kind: "run", run });
    onTestFinished(() => past.close());
    return ["rose", "comexim rose"].map((text) => search(past, text).map(({ name }) => name));
  };
  expect(foundAsOf(1)).toEqual([["Rose"], []]);
  expect(foundAsOf(2)).toEqual([["Rose"], ["Rose"]]);
});
