/**
 * A mirror whose every text is hostile, beside one with the same rows and harmless texts. In a browser, each page must have the
 * same elements with the same attributes from both: then no text has become markup, a link or a script.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { toStored } from "../../src/mirror/rows/cells.ts";
import { keyOf, readResourceKeys } from "../../src/query/lists/resource-keys.ts";
import { pathOf } from "../../src/web/parts/values.ts";
import { createServer } from "../../src/web/server.ts";
import type { WebServer } from "../../src/web/start-servers.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { launchBrowser, type Watched } from "./support/browser.ts";
import { isHarmless, look, replaceTexts, watchElements } from "./support/hostile-mirror.ts";
import { harmlessTexts, hostileTexts } from "./support/hostile-texts.ts";
import { send, startWebRig } from "./support/web-rig.ts";

const folder = await temporaryFolder();
let browser: Browser;
const served: { readonly file: string; readonly server: WebServer; readonly watched: Watched }[] = [];
beforeAll(async () => {
  expect(hostileTexts.length).toBeGreaterThanOrEqual(100);
  browser = await launchBrowser(inject("chromium"));
  await using web = await startWebRig();
  for (const [name, texts] of [
    ["hostile", hostileTexts],
    ["harmless", harmlessTexts],
  ] as const) {
    const file = join(folder.path, `${name}.sqlite`);
    copyFileSync(web.rig.file, file);
    replaceTexts(file, texts);
    const server = await createServer({ findCatalogue: () => file, port: 0, clock: web.rig.clock });
    served.push({ file, server, watched: await watchElements(browser, server.url) });
  }
});
afterAll(async () => {
  for (const { server } of served) await server.close();
  await browser.close();
  await folder[Symbol.asyncDispose]();
});

/** By the URLs of brands and models, which both mirrors have. */
function pathsOf(file: string): string[] {
  const mirror = openMirrorReader(file);
  const hrefs = mirror.db
    .prepare<[], string>(
      `select url from _resource where id in (select id from _brand order by id limit 3)
       union all select url from _resource where id in (select id from _model order by id limit 6)`,
    )
    .pluck()
    .all();
  const keys = readResourceKeys(mirror, hrefs);
  mirror.close();
  return hrefs.flatMap((href) => {
    const key = keys.get(href);
    return key === undefined ? [] : [pathOf(key)];
  });
}

const pages = [
  ...[
    "/",
    "/brands",
    "/models",
    "/models?as-of=1",
    "/models?gone=any",
    "/changes",
    "/changes/1",
    "/changes/2",
  ],
  ...["/compare?from=1&to=2", "/runs", "/plan", "/tables", "/tables/model", "/questions"],
  ...["/questions/top-brands", "/questions/top-models", "/questions/newest", "/search?q=zzzz"],
  "/sql?q=select+*+from+model+order+by+href",
  "/sql?q=select+*+from+recently_changed+order+by+href,+run",
];

it("a page of hostile texts has the elements of one of harmless texts, runs nothing and asks nothing elsewhere", async () => {
  const [hostile, harmless] = served;
  const paths = served.map(({ file }) => [...pages, ...pathsOf(file)]);
  expect(paths[0]).toHaveLength(paths[1]?.length ?? 0);
  expect(paths[0]?.length).toBeGreaterThan(25);
  for (const [n, path] of (paths[0] ?? []).entries()) {
    if (hostile === undefined || harmless === undefined) break;
    const bad = await look(hostile.watched, new URL(path, hostile.server.url).href);
    const good = await look(harmless.watched, new URL(paths[1]?.[n] ?? "", harmless.server.url).href);
    expect({ path, ...bad }).toMatchObject({ path, ...isHarmless });
    expect({ path, elements: bad.elements }).toEqual({ path, elements: good.elements });
    expect(bad.schemes.filter((scheme) => !["http:", "https:"].includes(scheme))).toEqual([]);
  }
});

/** Addresses that a page repeats, such as in a form. */
const addresses: readonly ((given: string) => string)[] = [
  (given) => `/search?q=zzzz${given}`,
  (given) => `/compare?from=${given}&kind=${given}&brand=${given}`,
  (given) => `/models?q=zzzz${given}&type=${given}`,
  (given) => `/questions/models-in-size?size=${given}`,
  (given) => `/sql?q=selectt+${given}`,
  (given) => `/tables/${given}`,
  (given) => `/brands?sort=${given}&after=${given}&x=${given}`,
  (given) => `/runs?after=${given}&idle=${given}`,
  (given) => `/questions/${given}`,
  (given) => `/brands?as-of=${given}`,
];

it("a hostile text in an address becomes text too", async () => {
  const [, harmless] = served;
  // Addresses hold no lone surrogates, and only so many bytes.
  const texts = hostileTexts.filter((text) => text.isWellFormed() && text.length < 2000);
  const pairs = texts.map((text, n) => {
    const addressOf = addresses[n % addresses.length] ?? String;
    return [text, "Harmless"].map((given) => addressOf(encodeURIComponent(given)));
  });
  await harmless?.watched.page.goto(harmless.server.url);
  const added = await harmless?.watched.page.evaluate<string[]>(`(async () => {
    const elementsAt = async (path) =>
      describeElements(new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html"));
    const added = [];
    const known = new Map();
    for (const [path, harmless] of ${JSON.stringify(pairs)}) {
      if (!known.has(harmless)) known.set(harmless, await elementsAt(harmless));
      const expected = known.get(harmless);
      for (const element of Object.keys(await elementsAt(path)))
        if (!(element in expected)) added.push(path + " has " + element);
    }
    return added;
  })()`);
  expect(added).toEqual([]);
});

it("a slug that no address can hold is replaced by the URL", () => {
  const brand = keyOf(toStored("\ud800"), "https://service.example/brands/1/");
  expect(pathOf({ kind: "brand", brand })).toBe("/brand/https%3A%2F%2Fservice.example%2Fbrands%2F1%2F");
});

it("hostile texts are the same in every download, and no cell is a formula", async () => {
  const [hostile] = served;
  if (hostile === undefined) throw new Error("no server");
  const rows: Record<string, unknown>[] = JSON.parse(
    (await send(hostile.server, "/models.json?gone=any")).body,
  );
  const texts = rows
    .flatMap((row) => Object.values(row))
    .filter((cell) => hostileTexts.includes(String(cell)));
  expect(texts.length).toBeGreaterThan(50);
  const csv = (await send(hostile.server, "/models.csv?gone=any")).body;
  expect(
    csv
      .split("\n")
      .flatMap((line) => line.split(","))
      .filter((cell) => /^"?[=+@]/.test(cell)),
  ).toEqual([]);
});
