/** Relative links resolve against the target of a redirect, while a resource keeps the URL of its link. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
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

it("a redirected collection is crawled from its new address, and rebuilds to the same rows", async () => {
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    if (url === "/brands") response.writeHead(301, { location: "/v0/brands/" }).end();
    else if (bodies[url] === undefined)
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(bodies[url]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = await temporaryFolder();
  onTestFinished(async () => {
    server.close();
    await folder[Symbol.asyncDispose]();
  });
  const file = join(folder.path, "mirror.sqlite");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  // The brands have no link to their models.
  const report = await sync({ file, baseUrl, depth: "brands" });
  expect(report).toMatchObject({ complete: true, resources: { gone: 0, new: 5 } });
  await rebuildMirror({ file, kinds, openedAt: "2026-01-15T12:00:00.000Z" });
  const mirror = openMirrorReader(file);
  try {
    expect(mirror.db.prepare("select name from brand order by name").pluck().all()).toEqual(["A", "B"]);
    expect(checkMirror(mirror, kinds).problems).toEqual([]);
  } finally {
    mirror.close();
  }
});
