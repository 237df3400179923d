/** The same catalogue under other layouts, service names and seeds. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { getEnvelope, linkOf, send } from "./support/client.ts";
import { crawlCatalogue } from "./support/crawl.ts";

const size = { brands: 7, models: 30, sizes: 80, pageSize: 4 } as const;

/** The truth without its origin, since ports differ. */
function truthOf(sandbox: Sandbox): string {
  const lines = [...sandbox.truth({ optional: true })].map((record) => JSON.stringify(record));
  return lines.join("\n").replaceAll(new URL(sandbox.url).origin, "");
}

async function truthFor(options: SandboxOptions): Promise<string> {
  await using sandbox = await startSandbox(options);
  return truthOf(sandbox);
}

describe.each([
  { layout: "plain", pagination: "page" },
  { layout: "opaque", pagination: "cursor" },
  { layout: "opaque", pagination: "page", paginateSizes: true },
  { layout: "plain", pagination: "cursor", serviceName: "other" },
] as const)("$layout layout by $pagination", (options) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ ...size, ...options });
  });
  afterAll(() => sandbox.close());

  it("following all links finds exactly the resources of truth(), byte for byte", async () => {
    const crawled = await crawlCatalogue(sandbox.url);
    const truth = [...sandbox.truth()];
    expect(new Set(crawled.keys())).toEqual(new Set(truth.map(({ url }) => url)));
    expect(crawled.size).toBe(truth.length);
    for (const { url, kind, body } of truth) {
      expect(crawled.get(url)?.kind).toBe(kind);
      expect(JSON.stringify(crawled.get(url)?.envelope)).toBe(JSON.stringify(body));
      expect(body.self).toBe(url);
    }
  });
});

it("every layout has the same entities", async () => {
  const names = (truth: string): string[] =>
    truth
      .split("\n")
      .flatMap((line) => /"body":\{"service_url":"([^"]*)"/.exec(line)?.[1] ?? [])
      .sort();
  const plain = await truthFor(size);
  const opaque = await truthFor({ ...size, layout: "opaque", pagination: "cursor" });
  expect(names(opaque)).toEqual(names(plain));
  expect(names(plain)).toHaveLength(7 + 30 + 80);
});

it("opaque paths and cursors contain no readable information", async () => {
  await using sandbox = await startSandbox({ ...size, layout: "opaque", pagination: "cursor" });
  for (const { url } of sandbox.truth({ optional: true })) {
    const { pathname, search } = new URL(url);
    expect(pathname).toMatch(/^\/(r\/[0-9a-f]{16}\/)?$/);
    expect(search).toMatch(/^(\?cursor=[0-9a-f]{16})?$/);
  }
});

it("unknown paths and cursors give 404", async () => {
  await using sandbox = await startSandbox({ ...size, layout: "opaque", pagination: "cursor" });
  const brands = linkOf(await getEnvelope(sandbox.url), "brands");
  for (const target of [
    `${sandbox.url}brands/`,
    `${sandbox.url}r/0123456789abcdef/`,
    `${brands}?cursor=0123456789abcdef`,
  ]) {
    expect((await send(target)).status).toBe(404);
  }
});

it("the same seed gives the same bytes, another seed different ones", async () => {
  expect(await truthFor({ ...size, seed: 7 })).toBe(await truthFor({ ...size, seed: 7 }));
  expect(await truthFor({ ...size, seed: 7 })).not.toBe(await truthFor({ ...size, seed: 8 }));
});

it("fields are named after the service", async () => {
  const truth = await truthFor({ ...size, serviceName: "other" });
  expect(truth).toContain('"other_url":"https://www.other.example/');
  expect(truth).not.toContain("service_url");
});

it("the numbers of brands, models and sizes are as requested", async () => {
  await using sandbox = await startSandbox({ brands: 40, models: 333, sizes: 2_222 });
  const counts = { brand: 0, model: 0, size: 0 };
  for (const { kind } of sandbox.truth())
    if (kind === "brand" || kind === "model" || kind === "size") counts[kind]++;
  expect(counts).toEqual({ brand: 40, model: 333, size: 2_222 });
});

it("few brands are big and many are small", async () => {
  await using sandbox = await startSandbox({ brands: 100, models: 1_000, sizes: 1_000 });
  const totals = [...sandbox.truth()]
    .filter(({ kind, body }) => kind === "models" && body.meta.prev === null)
    .map(({ body }) => Number(body.meta.collection_total))
    .sort((a, b) => b - a);
  expect(totals[0]).toBeGreaterThan(100);
  expect(totals.filter((total) => total <= 5).length).toBeGreaterThan(50);
});
