/** The keys that find a resource, and the errors for keys that match none or several. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { MirrorWriter } from "../../src/mirror/writer.ts";
import type { ShownKind } from "../../src/query/keys/find-by-key.ts";
import { findResource } from "../../src/query/keys/resolve-key.ts";
import { crawl, type MirrorRig, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { baseUrl, entity, page, root, urlOf, worldOf } from "../mirror/support/world.ts";

let rig: MirrorRig;
let mirror: MirrorWriter;

/** A brand with a model with two sizes, under opaque paths. */
function brand(path: string, fields: object, model: object): Readonly<Record<string, object>> {
  return {
    [path]: entity({ service_url: `https://www.example/${path}`, ...fields }, { models: urlOf(`${path}m/`) }),
    [`${path}m/`]: {
      ...page([]),
      collection: [{ href: urlOf(`${path}m1`) }, { href: urlOf(`${path}m2`), name: "New Moon" }],
    },
    [`${path}m1`]: entity(model, { brand: urlOf(path), sizes: urlOf(`${path}m1s/`) }),
    [`${path}m1s/`]: page([`${path}s1`, `${path}s2`]),
    [`${path}s1`]: entity({ size: "65F" }, { model: urlOf(`${path}m1`) }),
    [`${path}s2`]: entity({ size: "70/32 F" }, { model: urlOf(`${path}m1`) }),
  };
}

const listed = {
  "b1/": "Łódź Bieliźniana",
  "b2/": "Twin",
  "b3/": "TWIN",
  "b4/": "Phoenix",
  "b5/": "Phoenix",
  "b6/": "Later",
  "b7/": "twin-two",
};

const world = {
  "/": root(),
  "brands/": {
    ...page([]),
    collection: Object.entries(listed).map(([path, name]) => ({ href: urlOf(path), name })),
  },
  ...brand(
    "b1/",
    { slug: "lodz", name: "Łódź Bieliźniana" },
    { slug: "maja", code: "M-1", name: "Maja", full_name: "Łódź Maja" },
  ),
  ...brand("b2/", { slug: "twin", name: "Twin" }, { slug: "maja", code: "M-2", name: "Maja" }),
  ...brand("b3/", { slug: "twin-two", name: "TWIN" }, { slug: "m", code: "M-3", name: "Mél/ange" }),
  ...brand("b4/", { slug: "old", name: "Phoenix" }, { slug: "old", name: "Old" }),
  ...brand("b5/", { slug: "new", name: "Phoenix" }, { slug: "new", name: "New" }),
  ...brand("b7/", { slug: "twin-two-2", name: "twin-two" }, { slug: "m", name: "M" }),
};

beforeAll(async () => {
  rig = await startMirrorRig();
  mirror = await rig.write();
  // The sixth brand and the second models stay due: they are not fetched.
  crawl(mirror, worldOf(world), {
    choose: (due) => due.filter(({ url }) => url !== urlOf("b6/") && !url.endsWith("m2")),
    maxBatches: 9,
  });
  mirror.db.prepare("update _resource set state = 'gone', gone_run = 1 where url = ?").run(urlOf("b4/"));
});
afterAll(() => rig[Symbol.asyncDispose]());

const find = (kind: ShownKind, key: string) => findResource(mirror, kind, key).href;

it.each<[ShownKind, string, string]>([
  ["brand", urlOf("b1/"), "b1/"],
  ["brand", urlOf("b1"), "b1/"],
  ["brand", urlOf("b1/").replace("https://catalogue", "HTTPS://Catalogue"), "b1/"],
  ["brand", "https://www.example/b1/", "b1/"],
  ["brand", "https://WWW.example/b1", "b1/"],
  ["brand", "lodz", "b1/"],
  ["brand", "Łódź Bieliźniana", "b1/"],
  ["brand", "łódź bieliźniana", "b1/"],
  ["brand", "lodz bielizniana", "b1/"],
  ["brand", "Lodz-Bielizniana!", "b1/"],
  // An exact slug precedes a name that differs in case.
  ["brand", "twin", "b2/"],
  ["brand", "TWIN", "b3/"],
  // A slug, which is the key in output, precedes the name of another brand.
  ["brand", "twin-two", "b3/"],
  // A current brand precedes a tombstone.
  ["brand", "Phoenix", "b5/"],
  ["brand", "old", "b4/"],
  ["model", urlOf("b1/m1"), "b1/m1"],
  ["model", "lodz/maja", "b1/m1"],
  ["model", "Łódź bieliźniana/MAJA", "b1/m1"],
  ["model", "twin/M-2", "b2/m1"],
  ["model", "m-1", "b1/m1"],
  ["model", "lodz maja", "b1/m1"],
  ["model", "mel/ange", "b3/m1"],
  ["model", "twin-two/Mél/ange", "b3/m1"],
  ["size", urlOf("b1/s1"), "b1/s1"],
  ["size", "lodz/maja/65F", "b1/s1"],
  ["size", "Lodz/Maja/65f", "b1/s1"],
  ["size", "m-2/65F", "b2/s1"],
  ["size", "twin/maja/70/32 F", "b2/s2"],
])("the %s key %j finds %s", (kind, key, path) => {
  expect(find(kind, key)).toBe(urlOf(path));
});

it("an ambiguous key is an error that lists the matches by URL and name", () => {
  expect(() => find("brand", "Twin!")).toThrow(
    expect.objectContaining({
      name: "KeyError",
      message: `"Twin!" matches several: ${urlOf("b2/")} (Twin), ${urlOf("b3/")} (TWIN).`,
      hint: "Give the URL of one of them.",
    }),
  );
  expect(() => find("model", "maja")).toThrow(
    `"maja" matches several: ${urlOf("b1/m1")} (Łódź Maja), ${urlOf("b2/m1")} (Maja).`,
  );
});

it("an ambiguous key with more than five matches lists five", () => {
  const undone = mirror.db.transaction(() => {
    mirror.db.exec("delete from _brand");
    for (const url of Object.keys(listed).map(urlOf))
      mirror.db.exec(
        `insert into _brand (id, name, from_run) select id, 'Many', 1 from _resource where url = '${url}'`,
      );
    mirror.db.exec("update _resource set gone_run = null");
    expect(() => find("brand", "many")).toThrow(/^"many" matches several: (\S+ \(Many\), ){5}…$/);
    throw new Error("undo");
  });
  expect(undone).toThrow("undo");
});

it.each<[ShownKind, string, RegExp]>([
  ["brand", "Phenix", /^Did you mean "Phoenix"\?$/],
  ["brand", "no such thing", /^A key is a URL, slugs such as brand\/model\/size, or a name/],
  ["model", "lodz/maya", /^Did you mean "lodz\/maja"\?$/],
  ["size", "lodz/maja/65E", /^Did you mean "lodz\/maja\/65F"/],
  ["brand", `${baseUrl}elsewhere`, /^A key is/],
])("the unknown %s key %j is an error that suggests similar keys", (kind, key, hint) => {
  expect(() => find(kind, key)).toThrow(
    expect.objectContaining({
      message: `The mirror holds no ${kind} called ${JSON.stringify(key)}.`,
      hint: expect.stringMatching(hint),
    }),
  );
});

it.each(["user", "bra"] as const)("a %s in a catalogue is an error that suggests --account", (kind) => {
  expect(() => find(kind, "any")).toThrow(
    expect.objectContaining({
      message: `The mirror of a catalogue holds no ${kind}.`,
      hint: expect.stringContaining("--account NAME"),
    }),
  );
});

it("a brand that is listed and not fetched is an error that gives its URL", () => {
  for (const key of [urlOf("b6/"), "Later", "LATÉR", "later!"])
    expect(() => find("brand", key)).toThrow(
      expect.objectContaining({
        message: `The brand ${JSON.stringify(key)} is listed but not fetched yet: ${urlOf("b6/")}`,
      }),
    );
});

it("a model that is listed and not fetched is found by the slugs of brand and model", () => {
  for (const key of ["twin/new-moon", "Twin/New Moon"])
    expect(() => find("model", key)).toThrow(
      expect.objectContaining({
        message: `The model ${JSON.stringify(key)} is listed but not fetched yet: ${urlOf("b2/m2")}`,
        hint: expect.stringContaining("`armoire sync` fetches it"),
      }),
    );
});
