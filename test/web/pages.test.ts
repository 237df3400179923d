/** Pages and the rows behind them: the same resources as the mirror holds, in one order, at any point in time. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { readCsvRows } from "../../exports/formats/csv.ts";
import { findBrandByKey } from "../../src/query/lists/resource-keys.ts";
import { readSizeMatrices } from "../../src/query/lists/size-matrix.ts";
import { listQuestions } from "../../src/query/questions/questions.ts";
import { currentBodies } from "../support/current-bodies.ts";
import { linksIn, startWebRig, type WebRig } from "./support/web-rig.ts";

let web: WebRig;
beforeAll(async () => {
  web = await startWebRig();
});
afterAll(() => web[Symbol.asyncDispose]());

const hrefsIn = (json: string): string[] => JSON.parse(json).map(({ href }: { href: string }) => href);

const select = (sql: string): unknown[] => web.rig.read(({ db }) => db.prepare(sql).pluck().all());

it("a list in each format has the rows of the page, in its order", async () => {
  for (const path of ["/brands", "/models", "/models?sort=name", "/models?gone=any&sort=brand&order=desc"]) {
    const [base = "", query = ""] = path.split("?");
    const rowsAs = async (format: string) => (await web.get(`${base}.${format}?${query}`)).body;
    const hrefs = hrefsIn(await rowsAs("json"));
    expect(hrefs.length).toBeGreaterThan(3);
    const ndjson = (await rowsAs("ndjson")).trimEnd().split("\n");
    expect(ndjson.map((line) => JSON.parse(line).href)).toEqual(hrefs);
    const [header = "", ...lines] = (await rowsAs("csv")).trimEnd().split("\n");
    const column = header.split(",").indexOf("href");
    const csv = [...readCsvRows([header, ...lines], "guarded")].map((row) => row[column]);
    expect(csv).toEqual(hrefs);
    const names = [...(await web.get(path)).body.matchAll(/<th scope="row"><a href="([^"?]+)/g)];
    expect(names.length).toBe(hrefs.length);
    const linked = names.map(([, link = ""]) => decodeURIComponent(link.split("/").at(-1) ?? ""));
    expect(linked.map((slug, n) => hrefs[n]?.includes(slug))).not.toContain(false);
  }
});

it.each(["name", "brand", "type", "sizes", "bra_count", "last_modified_at"])(
  "rows after any row of a list sorted by %s are the rest of it",
  async (sort) => {
    for (const order of ["asc", "desc"]) {
      const all = hrefsIn((await web.get(`/models.json?sort=${sort}&order=${order}&gone=any`)).body);
      const keyed = web.rig.read(({ db }) =>
        Object.fromEntries(
          db.prepare("select url, id from _resource where kind = 'model'").raw().all() as [],
        ),
      );
      for (const n of [0, 7, all.length - 2]) {
        const value = web.rig.read(
          ({ db }) =>
            db
              .prepare(`select ${sortValue[sort]} from _model t where id = ?`)
              .pluck()
              .get(keyed[all[n] ?? ""]) ?? null,
        );
        const after = encodeURIComponent(JSON.stringify([value, keyed[all[n] ?? ""]]));
        const rest = await web.get(`/models.json?sort=${sort}&order=${order}&gone=any&after=${after}`);
        expect(hrefsIn(rest.body)).toEqual(all.slice(n + 1));
      }
    }
  },
);

const sortValue: Readonly<Record<string, string>> = {
  name: "coalesce(t.full_name, t.name)",
  brand: "(select name from _brand where id = t.brand_id)",
  type: "t.type",
  sizes: "(select count(*) from _size where model_id = t.id)",
  bra_count: "cast(t.bra_count as integer)",
  last_modified_at: "t.last_modified_at",
};

it("the numbers beside filters are those of the mirror", async () => {
  const { body } = await web.get("/models");
  for (const [type, count] of web.rig.read(({ db }) =>
    db.prepare("select type, count(*) from model_current group by type").raw().all(),
  ) as [string, number][]) {
    const link = linksIn(body).find((href) => href === `/models?type=${type.replaceAll(" ", "+")}`);
    expect([type, link !== undefined]).toEqual([type, true]);
    expect(hrefsIn((await web.get(link?.replace("/models", "/models.json") ?? "")).body)).toHaveLength(count);
    expect(body).toMatch(new RegExp(`<bdi>${type}</bdi></span> <span class="number">${count}</span>`));
  }
});

it("gone resources are left out unless they are asked for", async () => {
  const current = select("select href from model_current order by href");
  const all = select("select href from model order by href");
  expect(all.length).toBeGreaterThan(current.length);
  expect(hrefsIn((await web.get("/models.json")).body).sort()).toEqual(current);
  expect(hrefsIn((await web.get("/models.json?gone=any")).body).sort()).toEqual(all);
});

it("an earlier point shows the mirror as it was then, on pages, in rows and behind every link", async () => {
  const then = web.rig.read(() => hrefsIn("[]"));
  const page = await web.get("/models?as-of=1");
  expect(page.body).toContain("as of run 1 of the catalogue");
  expect(then).toEqual([]);
  const links = linksIn(page.body).filter((href) => href.startsWith("/") && !href.startsWith("/assets"));
  const withoutPoint = links.filter((href) => !href.includes("as-of=1"));
  // The one that leads back to the present.
  expect(withoutPoint).toEqual(["/models"]);
  const past = hrefsIn((await web.get("/models.json?gone=any&as-of=1")).body).sort();
  expect(past).toEqual(
    select(
      "select url from _resource where id in (select id from _model union select id from _model_past) and first_run <= 1 order by url",
    ),
  );
  expect(past.length).toBeLessThan(hrefsIn((await web.get("/models.json?gone=any")).body).length);
});

it.each([
  ["/brands?as-of=nonsense", 400],
  ["/brands?as-of=99", 404],
  ["/brand/nothing-like-it", 404],
  ["/brand/nothing-like-it.json", 404],
  ["/nothing", 404],
  ["/brands.xml", 404],
  ["/brands?after=nonsense", 200],
  ["/brands?sort=nonsense", 200],
])("%s has the status %i", async (path, status) => {
  const reply = await web.get(path);
  expect(reply.status).toBe(status);
  expect(reply.body).not.toMatch(/\n {4}at /);
});

it("an inexact name leads to the page of the resource", async () => {
  const [slug, name] = web.rig.read(({ db }) =>
    db
      .prepare(
        "select slug, name from brand_current where name <> slug collate nocase order by bra_count desc",
      )
      .raw()
      .get(),
  ) as [string, string];
  const { status, headers } = await web.get(`/brand/${encodeURIComponent(name.toUpperCase())}?as-of=2`);
  expect([status, headers.location]).toEqual([302, `/brand/${encodeURIComponent(slug)}?as-of=2`]);
});

it("every brand and model has a page that is found by following links, and its row as JSON", async () => {
  const seen = new Set<string>();
  const queue = ["/brands?gone=any", "/models?gone=any"];
  const isResource = (href: string) => /^\/brand\/[^?#.]+$/.test(href);
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, body } = await web.get(path);
    expect([path, status]).toEqual([path, 200]);
    queue.push(...linksIn(body).filter(isResource));
  }
  const documents = [...seen]
    .filter((path) => isResource(path) && !path.endsWith("/sizes"))
    .map(async (path) => JSON.parse((await web.get(`${path}.json`)).body));
  const hrefs = (await Promise.all(documents)).map(({ fields }) => fields.href).sort();
  expect(hrefs).toEqual(select("select href from brand union select href from model order by 1"));
});

it("a page of a model says where its values come from, and has the body as it was sent", async () => {
  const [href = "", brand = "", slug = ""] = web.rig.read(({ db }) =>
    db
      .prepare("select href, brand_slug, slug from model_current order by bra_count desc limit 1")
      .raw()
      .get(),
  ) as string[];
  const [sent = ""] = web.rig.read((mirror) =>
    [...currentBodies(mirror)].flatMap(([url, body]) => (url === href ? [body] : [])),
  );
  const { body } = await web.get(`/brand/${brand}/${slug}`);
  const text = body
    .replace(/<\/?bdi>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll("&#39;", "'");
  const document = JSON.parse((await web.get(`/brand/${brand}/${slug}.json`)).body);
  expect(text).toContain(`GET ${href}`);
  expect(text).toContain(document.source.etag);
  expect(text).toMatch(new RegExp(`by run ${document.source.run}, as revision ${document.source.revision}<`));
  const [, shown = ""] = /<pre[^>]*><code>(.*?)<\/code>/s.exec(text) ?? [];
  expect(JSON.parse(shown.replaceAll("&lt;", "<").replaceAll("&gt;", ">"))).toEqual(JSON.parse(sent));
});

it("a page of a model leads to the history of its sizes that changed", async () => {
  const [path, size] = web.rig.read(({ db }) =>
    db
      .prepare(
        `select m.brand_slug || '/' || m.slug, s.size from size_current s join model_current m on m.href = s.model_href
          join _resource r on r.url = s.href join _revision v on v.resource_id = r.id
        group by s.href having count(*) > 1 limit 1`,
      )
      .raw()
      .get(),
  ) as string[];
  const { body } = await web.get(`/brand/${path}`);
  const [, link = ""] =
    /<details[^>]*><summary>\d+ sizes? changed, gone or back<.*?<a href="([^"]*)">/s.exec(body) ?? [];
  expect(link).toBe(`/brand/${path}/sizes`);
  expect(body).not.toContain(`<bdi>${size}</bdi></h3>`);
  const { body: changed } = await web.get(link);
  expect(changed).toContain(`<bdi>${size}</bdi></h3>`);
  expect(changed).toContain("<strong>Changed</strong>");
});

it("a page of a gone brand does not say that something is not fetched yet", async () => {
  await using own = await startWebRig();
  own.rig.sandbox.advance({ kind: "brand", removals: 1 });
  await own.rig.sync({ mode: "verify", approve: true });
  const gone = own.rig.read(({ db }) =>
    db.prepare("select slug from brand where gone_at is not null").pluck().get(),
  );
  const { body } = await own.get(`/brand/${gone}`);
  expect(body).toContain('<span class="tag gone">gone</span>');
  expect(body).toContain("are gone with it");
  expect(body).not.toContain("not fetched yet");
  expect(body).not.toContain("held yet");
});

it("the map of a brand's sizes has the counts of the question size-coverage", () => {
  const sql = listQuestions().find(({ name }) => name === "size-coverage")?.sql ?? "";
  let compared = 0;
  for (const slug of select("select slug from brand_current") as string[]) {
    web.rig.read((mirror) => {
      const { id = 0, href = "" } = findBrandByKey(mirror, slug) ?? {};
      for (const { system, cells } of readSizeMatrices(mirror, id)) {
        const answer = mirror.db
          .prepare(sql)
          .raw()
          .all({ system, brand: JSON.stringify([href]) });
        expect(cells.map(({ band, cup, models }) => [band, cup, models])).toEqual(
          (answer as unknown[][]).filter(([band, cup]) => band !== null && cup !== null),
        );
        compared += cells.length;
      }
    });
  }
  expect(compared).toBeGreaterThan(100);
});

it("a cell of the map leads to exactly its models", async () => {
  const [slug = ""] = select("select slug from brand_current order by bra_count desc limit 1") as string[];
  const { body } = await web.get(`/brand/${slug}`);
  const cells = [...body.matchAll(/<td class="h\d"\s*><a href="([^"]+)"[^>]*>(\d+)<\/a>/g)];
  expect(cells.length).toBeGreaterThan(3);
  for (const [, href = "", count] of cells.slice(0, 10)) {
    const page = await web.get(href.replaceAll("&amp;", "&").split("#")[0] ?? "");
    expect(page.body).toContain(`<p class="count" aria-live="polite">${count} model`);
  }
});

it("results of a search come with the path of their page", async () => {
  const [name = ""] = select("select name from brand_current order by bra_count desc limit 1") as string[];
  const found = JSON.parse((await web.get(`/search.json?q=${encodeURIComponent(name)}`)).body);
  expect(found[0]).toMatchObject({ kind: "brand", name });
  expect((await web.get(found[0].path)).body).toContain(`<bdi>${name}</bdi></h1>`);
});

it("texts of the service are shown as text", async () => {
  const names = select(
    "select name from model where name like '%<%' or name like '%&%' or name like '%\"%'",
  ) as string[];
  expect(names.length).toBeGreaterThan(0);
  const { body } = await web.get("/models?gone=any");
  for (const name of names) {
    const escaped = name
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&#39;");
    expect(body).toContain(escaped);
    if (name.includes("<")) expect(body).not.toContain(name);
  }
});
