import { describe, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import type { Depth } from "../../../schema/kind.ts";
import type { TruthRecord } from "../../../src/sandbox/resources/catalogue.ts";
import { kindsInScope } from "../../../src/sync/options.ts";
import { layouts } from "../support/layouts.ts";
import { kindsOf, urlsOf } from "../support/requests.ts";
import { type Rig, startRig } from "../support/rig.ts";

const small = { brands: 6, models: 15, sizes: 45, pageSize: 4 };

describe.each(layouts)("the depth of a sync from $name", ({ options }) => {
  it.each<[Depth, string[]]>([
    ["brands", ["root", "brands", "brand"]],
    ["models", ["root", "brands", "brand", "models", "model"]],
    ["sizes", ["root", "brands", "brand", "models", "model", "sizes", "size"]],
  ])("%s fetches exactly these kinds", async (depth, fetched) => {
    await using rig = await startRig({ ...options, ...small });
    expect(await rig.sync({ depth })).toMatchObject({ complete: true });
    expect(kindsOf(rig.sandbox)).toEqual(new Set(fetched));
    const expected = [...rig.sandbox.truth()].filter(({ kind }) => fetched.includes(kind));
    expect(urlsOf(rig.sandbox.log())).toEqual(expected.map(({ url }) => url).sort());
  });

  it("the depth can be increased later, and only the missing kinds are fetched", async () => {
    await using rig = await startRig({ ...options, ...small });
    await rig.sync({ depth: "brands" });
    rig.sandbox.clearLog();
    const { resources, complete } = await rig.sync({ depth: "sizes" });
    expect(complete).toBe(true);
    const deeper = [...rig.sandbox.truth()].filter(({ kind }) => /model|size/.test(kind));
    expect(resources.new).toBe(deeper.length);
    const counted = rig.sandbox.log().filter((entry) => entry.counted);
    expect(urlsOf(counted)).toEqual(deeper.map(({ url }) => url).sort());
  });
});

describe.each(layouts)("following links from $name", ({ options }) => {
  it.each([
    ["related", ["related_brands", "related_models"]],
    ["same_cut", ["same_cut"]],
    ["adjacent_sizes", ["adjacent_sizes"]],
  ])("%s adds its collections, and their items as rows of `relation`", async (link, fetched) => {
    await using rig = await startRig({ ...options, ...small });
    await rig.sync();
    rig.sandbox.clearLog();
    expect(await rig.sync({ follow: [link] })).toMatchObject({ complete: true });
    const collections = [...rig.sandbox.truth({ optional: true })].filter(({ kind }) =>
      fetched.includes(kind),
    );
    const counted = rig.sandbox.log().filter((entry) => entry.counted);
    expect(urlsOf(counted)).toEqual(collections.map(({ url }) => url).sort());
    expect(readRelations(rig)).toEqual(expectedRelations(rig, link, fetched));
  });

  it("following links works for several names, and for one that no kind declares", async () => {
    await using rig = await startRig({ ...options, ...small });
    await rig.sync({ depth: "brands" });
    await rig.sync({ follow: ["same_cut", "main_sizing"] });
    expect(kindsOf(rig.sandbox)).toContain("same_cut");
    expect(kindsOf(rig.sandbox)).toContain("sizing");
    expect(kindsOf(rig.sandbox)).not.toContain("related_brands");
  });
});

it("kinds are crawled from the root outwards, followed ones last", () => {
  expect(kindsInScope(kinds, "catalogue", "models", ["related"])).toEqual([
    ...["root", "brands", "brand", "models", "model", "?related", "related_brands", "related_models"],
  ]);
  expect(kindsInScope(kinds, "account", "sizes", [])).toEqual([
    ...["root", "me", "bras", "bra", "measurements", "measurement"],
  ]);
});

function readRelations(rig: Rig): string[] {
  return rig
    .read(({ db }) => db.prepare<[], object>("select href, name, related_href from relation").all())
    .map((row) => JSON.stringify(row))
    .sort();
}

/** Each item of each collection that a link of this name leads to. */
function expectedRelations({ sandbox }: Rig, link: string, collectionKinds: readonly string[]): string[] {
  const truth = [...sandbox.truth({ optional: true })];
  const byUrl = new Map(truth.map((record) => [record.url, record] as const));
  const itemsOf = ({ body }: TruthRecord) => {
    const collection = byUrl.get(String(body.links[link]));
    return collection && collectionKinds.includes(collection.kind) ? (collection.body.collection ?? []) : [];
  };
  return truth
    .flatMap((record) =>
      itemsOf(record).map((item) =>
        JSON.stringify({ href: record.url, name: link, related_href: item.href }),
      ),
    )
    .sort();
}
