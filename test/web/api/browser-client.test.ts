/** A client in a browser, on a page of another origin, that knows nothing of this project: it follows links from the root. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { layouts } from "../../sync/support/layouts.ts";
import { startRig } from "../../sync/support/rig.ts";
import { launchBrowser } from "../support/browser.ts";
import { servedBodies } from "./support/compare-mirrors.ts";
import { key, serveApi } from "./support/serve-api.ts";

/** The client: every URL of the root's origin in a body is requested once. Then some are asked for whether they changed. */
const client = `async ({ root, key }) => {
  const { origin } = new URL(root);
  const headers = { authorization: "bearer " + key };
  const urlsIn = (value) => typeof value === "string"
    ? (value.startsWith(origin + "/") ? [value] : [])
    : value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(urlsIn);
  const [bodies, tags, statuses, seen, waiting] = [{}, {}, {}, new Set([root]), [root]];
  for (const url of waiting) {
    const response = await fetch(url, { headers });
    const text = await response.text();
    statuses[response.status] = 1 + (statuses[response.status] ?? 0);
    if (response.status !== 200) continue;
    bodies[url] = text;
    tags[url] = response.headers.get("etag");
    for (const next of urlsIn(JSON.parse(text)))
      if (!seen.has(next)) { seen.add(next); waiting.push(next); }
  }
  const again = [];
  for (const url of Object.keys(tags).filter((url) => tags[url] !== null).slice(0, 5))
    again.push((await fetch(url, { cache: "no-store", headers: { ...headers, "if-none-match": tags[url] } })).status);
  return { bodies, statuses, again };
}`;

interface Walk {
  readonly bodies: Readonly<Record<string, string>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly again: readonly number[];
}

it("reads all that is held, of catalogue and account, by links and cursors, if its origin is allowed", async () => {
  const { options } = layouts.at(-1) ?? {};
  await using rig = await startRig({ brands: 2, models: 3, sizes: 6, pageSize: 2, ...options });
  await using folder = await temporaryFolder();
  const file = join(folder.path, "account.sqlite");
  await rig.sync();
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  await rig.sync({ file, area: "account", credential });
  const pages = createServer((_request, response) => response.end("<!doctype html><title>A client</title>"));
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  const pageOf = (host: string) => `http://${host}:${(pages.address() as AddressInfo).port}`;
  await using api = await serveApi({
    ...{ findCatalogue: () => rig.file, findAccount: () => file, clock: rig.clock },
    corsOrigins: [pageOf("127.0.0.1")],
  });
  const browser = await launchBrowser(inject("chromium"));
  const page = await browser.newPage();
  const walk = () => page.evaluate<Walk>(`(${client})(${JSON.stringify({ root: `${api.origin}/`, key })})`);
  await page.goto(pageOf("127.0.0.1"));
  const { bodies, statuses, again } = await walk();
  const expected = servedBodies([rig.file, file], api.origin);
  // The resource of the rate limit is the server's own.
  const read = Object.entries(bodies).filter(([, body]) => !body.includes('"base":{"limit"'));
  expect(Object.fromEntries(read)).toEqual(expected);
  expect(Object.keys(expected).length).toBeGreaterThan(30);
  // Links that the sync did not follow are known and not held.
  expect(Object.keys(statuses).sort()).toEqual(["200", "504"]);
  expect(again).toEqual([304, 304, 304, 304, 304]);
  await page.goto(pageOf("localhost"));
  await expect(walk()).rejects.toThrow("Failed to fetch");
  await browser.close();
  pages.close();
});
