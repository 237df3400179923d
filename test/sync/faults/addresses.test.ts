/** Services whose addresses change: redirects, and pages whose addresses are new in each response. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { rebuildMirror } from "../../../src/mirror/writer.ts";
import { sync } from "../../../src/sync/sync.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

const collection = (hrefs: readonly string[], next: string | null) => ({
  rel: "collection",
  links: {},
  meta: { next, collection_total: 2 },
  collection: hrefs.map((href) => ({ href, name: href })),
});
const brand = (name: string) => ({ rel: "entity", links: {}, meta: {}, body: { name } });
const bodies: Readonly<Record<string, unknown>> = {
  "/": { rel: "resource", links: { brands: "/brands" }, meta: {} },
  "/v0/brands/": collection(["a/"], "?page=2"),
  "/v0/brands/?page=2": collection(["b/"], null),
  "/v0/brands/a/": brand("A"),
  "/v0/brands/b/": brand("B"),
};

/** @param bodyAt by path and query; undefined for 404 */
async function startService(
  bodyAt: (target: string) => unknown,
  redirects: Readonly<Record<string, string>>,
) {
  const server = createServer((request, response) => {
    const target = request.url ?? "";
    const [location, body] = [redirects[target], bodyAt(target)];
    if (location !== undefined) response.writeHead(301, { location }).end();
    else if (body === undefined) response.writeHead(404, { "content-type": "application/json" }).end("{}");
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = await temporaryFolder();
  onTestFinished(async () => {
    server.close();
    await folder[Symbol.asyncDispose]();
  });
  return {
    file: join(folder.path, "mirror.sqlite"),
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    // The brands have no link to their models.
    depth: "brands",
  } as const;
}

it("a redirected collection is crawled from its new address, and rebuilds to the same rows", async () => {
  const options = await startService((target) => bodies[target], { "/brands": "/v0/brands/" });
  const report = await sync(options);
  expect(report).toMatchObject({ complete: true, resources: { gone: 0, new: 5 } });
  const { file } = options;
  await rebuildMirror({ file, kinds, openedAt: "2026-01-15T12:00:00.000Z" });
  const mirror = openMirrorReader(file);
  try {
    expect(mirror.db.prepare("select name from brand order by name").pluck().all()).toEqual(["A", "B"]);
    expect(checkMirror(mirror, kinds).problems).toEqual([]);
  } finally {
    mirror.close();
  }
});

describe("a list whose second page has a new address in each response", () => {
  const startList = (second: readonly string[]) => {
    let cursor = 0;
    return startService(
      (target) => {
        if (target === "/v0/brands/") return collection(["a/"], `?cursor=${++cursor}`);
        return target === `/v0/brands/?cursor=${cursor}` ? collection(second, null) : bodies[target];
      },
      { "/brands": "/v0/brands/" },
    );
  };

  it("is never complete if it lacks entries", async () => {
    const options = await startList([]);
    for (let runs = 0; runs < 3; runs++) expect(await sync(options)).toMatchObject({ complete: false });
  });

  it("is complete after each sync if it has all entries", async () => {
    const options = await startList(["b/"]);
    for (let runs = 0; runs < 3; runs++)
      expect(await sync(options)).toMatchObject({ complete: true, resources: { partial: 0 } });
  });
});
