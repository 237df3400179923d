/** The sandbox against the specification, section by section. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { bearer, getEnvelope, hrefsOf, linkOf, type ReceivedEnvelope, send } from "./support/client.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ pageSize: 5 });
});
afterAll(() => sandbox.close());

const url = z.url();
const zoneless = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?$/);
const pageMeta = z.strictObject({
  page_total: z.int(),
  paginated: z.literal(true),
  next: url.nullable(),
  current: url,
  prev: url.nullable(),
  collection_total: z.int(),
});
const wholeMeta = z.strictObject({
  page_total: z.null(),
  paginated: z.literal(false),
  next: z.null(),
  current: z.null(),
  prev: z.null(),
  collection_total: z.int(),
});
const brandSummary = z.strictObject({ service_url: url, href: url, name: z.string() });
const modelSummary = brandSummary;
const sizeSummary = z.strictObject({ service_url: url, href: url, size: z.string() });

async function firstOf(collection: ReceivedEnvelope, headers = {}): Promise<ReceivedEnvelope> {
  const [href = ""] = hrefsOf(collection);
  return getEnvelope(href, headers);
}

const brandsPage = async (): Promise<ReceivedEnvelope> =>
  getEnvelope(linkOf(await getEnvelope(sandbox.url), "brands"));
const firstBrand = async (): Promise<ReceivedEnvelope> => firstOf(await brandsPage());
const modelsPage = async (): Promise<ReceivedEnvelope> => getEnvelope(linkOf(await firstBrand(), "models"));
const firstModel = async (): Promise<ReceivedEnvelope> => firstOf(await modelsPage());
const sizesPage = async (): Promise<ReceivedEnvelope> => getEnvelope(linkOf(await firstModel(), "sizes"));

describe("catalogue", () => {
  it("the root has a welcome and three links (2.2)", async () => {
    const root = await getEnvelope(sandbox.url);
    expect(root).toMatchObject({
      self: sandbox.url,
      rel: "resource",
      spec: expect.stringMatching(/^https:/),
    });
    expect(Object.keys(root.links)).toEqual(["me", "brands", "rate_limit"]);
    expect(root.meta).toEqual({ welcome: expect.any(String) });
    expect(root).not.toHaveProperty("body");
    expect(root).not.toHaveProperty("collection");
  });

  it("brands are paginated and ordered by number of bras (2.7)", async () => {
    const first = await brandsPage();
    expect(first).toMatchObject({ rel: "collection", spec: null, links: {} });
    expect(pageMeta.parse(first.meta)).toMatchObject({
      page_total: 5,
      collection_total: 12,
      prev: null,
      current: first.self,
    });
    z.array(brandSummary).length(5).parse(first.collection);
    const second = await getEnvelope(z.string().parse(first.meta.next));
    const third = await getEnvelope(z.string().parse(second.meta.next));
    expect(second.meta).toMatchObject({ page_total: 5, prev: first.self, current: second.self });
    expect(third.meta).toMatchObject({ page_total: 2, next: null, prev: second.self });
    const counts: number[] = [];
    for (const href of [first, second, third].flatMap(hrefsOf)) {
      counts.push(z.number().parse((await getEnvelope(href)).body?.bra_count));
    }
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    expect(counts[0]).toBeGreaterThan(counts.at(-1) ?? 0);
  });

  it("a brand has its fields and links (2.8)", async () => {
    const brand = await firstBrand();
    expect(brand).toMatchObject({
      rel: "entity",
      spec: null,
      meta: { collection: (await brandsPage()).self },
    });
    expect(Object.keys(brand.links)).toEqual(["models", "related", "sizing", "main_sizing"]);
    z.strictObject({
      service_url: url,
      bra_count: z.int(),
      name: z.string(),
      slug: z.string(),
      default_sizing_system: z.string(),
      default_sizing_name: z.string(),
      logo: url,
      twitter: z.string().nullable(),
      facebook: z.string().nullable(),
      official_url: url,
      last_modified_at: zoneless,
    }).parse(brand.body);
  });

  it("models are paginated and not ordered by number of bras (2.9)", async () => {
    const page = await modelsPage();
    expect(page.links).toEqual({ brand: (await firstBrand()).self });
    pageMeta.parse(page.meta);
    z.array(modelSummary).length(5).parse(page.collection);
    const counts = await Promise.all(
      hrefsOf(page).map(async (href) => (await getEnvelope(href)).body?.bra_count),
    );
    expect(counts).not.toEqual(counts.toSorted((a, b) => Number(b) - Number(a)));
  });

  it("a model has its fields and links (2.10)", async () => {
    const model = await firstModel();
    expect(model.meta).toEqual({ collection: linkOf(await firstBrand(), "models") });
    expect(Object.keys(model.links)).toEqual(["brand", "same_cut", "related", "sizes"]);
    const body = z
      .strictObject({
        service_url: url,
        code: z.string(),
        name: z.string(),
        full_name: z.string(),
        slug: z.string(),
        brand_slug: z.string(),
        bra_count: z.int(),
        is_discontinued: z.boolean(),
        type: z.string(),
        official_url: url,
        main_picture: url,
        main_stock_picture: url.nullable(),
        manufacturer_stock_pictures: z.array(z.strictObject({ url, text: z.string() })),
        last_modified_at: zoneless,
      })
      .parse(model.body);
    expect(body.full_name).toBe(`${body.name} (${body.code})`);
    expect(model.self).toBe(`${sandbox.url}brands/${body.brand_slug}/models/${body.slug}/`);
  });

  it("a model's sizes come in one collection, each with an entity (field notes)", async () => {
    const sizes = await sizesPage();
    wholeMeta.parse(sizes.meta);
    z.array(sizeSummary).min(1).parse(sizes.collection);
    const size = await firstOf(sizes);
    expect(size.links).toEqual({ model: (await firstModel()).self, adjacent_sizes: `${size.self}adjacent/` });
    expect(size.meta).toEqual({ collection: sizes.self });
    z.strictObject({
      service_url: url,
      size: z.string(),
      band: z.int(),
      cup: z.string(),
      bra_count: z.union([z.int(), z.string().regex(/^\d+$/)]),
      main_picture: url,
      alternative_sizes: z.record(z.string(), z.string()),
      last_modified_at: zoneless,
    }).parse(size.body);
  });

  it("some counts of sizes are strings of digits", () => {
    const sizes = [...sandbox.truth()].filter(({ kind }) => kind === "size");
    const types = new Set(sizes.map(({ body }) => typeof body.body?.bra_count));
    expect(types).toEqual(new Set(["number", "string"]));
  });

  it("a model's bras are the sum of its sizes', a brand's of its models'", async () => {
    const model = await firstModel();
    const sizes = await Promise.all(hrefsOf(await sizesPage()).map((href) => getEnvelope(href)));
    const sum = sizes.reduce((total, { body }) => total + Number(body?.bra_count), 0);
    expect(model.body?.bra_count).toBe(sum);
  });

  it("related brands and models, same cuts, adjacent sizes and sizing systems exist", async () => {
    const brand = await firstBrand();
    const model = await firstModel();
    const size = await firstOf(await sizesPage());
    for (const [from, link, item] of [
      [brand, "related", brandSummary],
      [model, "related", modelSummary],
      [model, "same_cut", modelSummary],
      [size, "adjacent_sizes", sizeSummary],
    ] as const) {
      const list = await getEnvelope(linkOf(from, link));
      wholeMeta.parse(list.meta);
      z.array(item).parse(list.collection);
      expect(hrefsOf(list)).not.toContain(from.self);
      for (const href of hrefsOf(list)) await getEnvelope(href);
    }
    const systems = await getEnvelope(linkOf(brand, "sizing"));
    expect(hrefsOf(systems)).toContain(linkOf(brand, "main_sizing"));
    expect((await getEnvelope(linkOf(brand, "main_sizing"))).body?.label).toBe(
      brand.body?.default_sizing_system,
    );
  });

  it("a collection is empty and some names are awkward", () => {
    const truth = [...sandbox.truth()];
    expect(truth.some(({ kind, body }) => kind === "models" && body.collection?.length === 0)).toBe(true);
    const names = truth.map(({ body }) => String(body.body?.name)).join("\u0000");
    for (const awkward of ['"', ",", "\n", "=1+1", "@home", "日本", "مشد"]) expect(names).toContain(awkward);
  });

  it("similar but wrong paths give 404", async () => {
    const page = await modelsPage();
    const misses = [
      "nothing/",
      "brands",
      "brands//",
      "brands/nobody/",
      "brands/?page=4",
      "brands/?page=0",
      "brands/?page=x",
      "__proto__/",
      "brands/__proto__/",
      "brands/x/constructor/",
      "%E0%A4%A/",
      "rate-limit/more/",
    ].map((path) => sandbox.url + path);
    for (const miss of [...misses, `${page.self}nobody/`, `${page.self}?page=99`]) {
      const { status, bytes } = await send(miss);
      expect({ miss, status }).toEqual({ miss, status: 404 });
      expect(JSON.parse(bytes.toString())).toEqual({ message: "Not found" });
    }
  });

  it("only GET and HEAD are allowed", async () => {
    expect(await send(sandbox.url, { method: "POST", body: "{}" })).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD" },
    });
    const head = await send(sandbox.url, { method: "HEAD" });
    expect({ status: head.status, length: head.bytes.length }).toEqual({ status: 200, length: 0 });
    expect(Number(head.headers["content-length"])).toBe((await send(sandbox.url)).bytes.length);
  });

  it("URLs contain the host that the client used", async () => {
    const { port } = new URL(sandbox.url);
    const root = await getEnvelope(`http://localhost:${port}/`);
    expect(linkOf(root, "brands")).toBe(`http://localhost:${port}/brands/`);
    expect((await send(sandbox.url, { headers: { Host: 'evil"host' } })).status).toBe(400);
  });
});

describe("account", () => {
  const authorization = (): { readonly Authorization: string } => bearer(sandbox.users[0]?.token);
  const me = async (): Promise<ReceivedEnvelope> =>
    getEnvelope(linkOf(await getEnvelope(sandbox.url), "me"), authorization());

  it("the user has their fields and links (2.3)", async () => {
    const user = await me();
    expect(user).toMatchObject({ rel: "entity", meta: { collection: null } });
    expect(Object.keys(user.links)).toEqual(["bras", "measurements"]);
    z.strictObject({
      username: z.string(),
      service_url: url,
      user_id: z.int(),
      reputation: z.int(),
      avatar: z.strictObject({ medium: url }),
      is_verified: z.boolean(),
      email: z.email(),
    }).parse(user.body);
  });

  it("all bras come in one collection with links into the catalogue (2.4)", async () => {
    const bras = await getEnvelope(linkOf(await me(), "bras"), authorization());
    expect(bras).toMatchObject({ rel: "collection", spec: null, links: {} });
    expect(wholeMeta.parse(bras.meta).collection_total).toBe(30);
    const named = z.strictObject({ service_url: url, href: url, name: z.string() });
    const items = z
      .array(
        z.strictObject({
          service_url: url,
          name: z.string(),
          brand: named,
          is_owned: z.boolean(),
          href: url,
          model: named,
          size: z.strictObject({ service_url: url, href: url, size: z.string() }),
        }),
      )
      .length(30)
      .parse(bras.collection);
    const known = new Set([...sandbox.truth()].map((record) => record.url));
    for (const { brand, model, size } of items) {
      for (const { href } of [brand, model, size]) expect(known).toContain(href);
    }
  });

  it("a bra has its fields, and no measurement is null (2.5)", async () => {
    const bras = await getEnvelope(linkOf(await me(), "bras"), authorization());
    const bodies = [];
    for (const href of hrefsOf(bras)) {
      const bra = await getEnvelope(href, authorization());
      expect(Object.keys(bra.links)).toEqual(["size", "model", "brand"]);
      expect(bra).toMatchObject({ spec: null, meta: { collection: bras.self } });
      bodies.push(
        z
          .strictObject({
            service_url: url,
            name: z.string(),
            brand: z.string(),
            model: z.string(),
            size: z.string(),
            multiple_sizes: z.record(z.string(), z.string()),
            is_owned: z.boolean(),
            is_custom: z.boolean(),
            is_altered: z.boolean(),
            altered_band: z.boolean(),
            hooks: z.int(),
            bust_perimeter: z.number(),
            strap_width: z.number(),
            cup_separation: z.number(),
            cup_depth: z.number(),
            wire_length: z.number(),
            gore_height: z.number(),
            wing_height: z.number(),
            band_length: z.number(),
            stretched_band_length: z.number(),
            note: z.string(),
          })
          .parse(bra.body),
      );
    }
    expect(bodies).toHaveLength(30);
  });

  it("measurements are a collection (2.6)", async () => {
    const list = await getEnvelope(linkOf(await me(), "measurements"), authorization());
    pageMeta.parse(list.meta);
    const measurement = await firstOf(list, authorization());
    expect(measurement.meta).toEqual({ collection: list.self });
    expect(measurement.body).toMatchObject({ measured_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
  });
});
