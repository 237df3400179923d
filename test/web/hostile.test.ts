/**
 * A mirror whose every text is hostile, beside one with the same rows and harmless texts. In a browser, each page must have the
 * same elements with the same attributes from both: then no text has become markup, a link or a script.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { toStored } from "../../src/mirror/rows/cells.ts";
import { typedTables } from "../../src/mirror/rows/versioned-rows.ts";
import { keyOf, readResourceKeys } from "../../src/query/lists/resource-keys.ts";
import { pathOf } from "../../src/web/parts/values.ts";
import { createServer } from "../../src/web/server.ts";
import type { WebServer } from "../../src/web/start-servers.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { launchBrowser, type Watched, watchPage } from "./support/browser.ts";
import { hostileTexts } from "./support/hostile-texts.ts";
import { send, startWebRig } from "./support/web-rig.ts";

const folder = await temporaryFolder();
/** Numbers that order and limit rows, so that both mirrors show the same ones. */
const keptColumns = new Set(["bra_count", "is_discontinued", "band", "n", "last_modified_at"]);

const harmlessTexts = hostileTexts.map((_, n) => `Harmless ${n}`);

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
    const watched = await watchPage(browser, server.url, { viewport: { width: 1280, height: 800 } });
    await watched.page.addInitScript(
      `globalThis.hits = 0; globalThis.hit = () => { hits++; }; ${describeElements}`,
    );
    served.push({ file, server, watched });
  }
});
afterAll(async () => {
  for (const { server } of served) await server.close();
  await browser.close();
  await folder[Symbol.asyncDispose]();
});

/** The same place gets the text of the same number in both mirrors. */
function replaceTexts(file: string, texts: readonly string[]): void {
  const db = new Database(file);
  let place = 0;
  const next = () => texts[place++ % texts.length] ?? "";
  db.function("next_text", () => toStored(next()));
  db.function("next_object", () => {
    const text = next();
    return JSON.stringify({ [text]: text });
  });
  const columns = (table: string) =>
    db
      .prepare<[string], string>("select name from pragma_table_info(?) where type in ('ANY', 'TEXT')")
      .pluck()
      .all(table);
  const replace = (table: string, names: readonly string[]) => {
    for (const column of names) {
      const made = column === "alternative_sizes" ? "next_object()" : "next_text()";
      db.exec(`update ${table} set ${column} = ${made} where ${column} is not null`);
    }
  };
  for (const { name } of typedTables.flat())
    for (const table of [name, `${name}_past`])
      replace(
        table,
        columns(table).filter((column) => !keptColumns.has(column)),
      );
  replace("_headers", ["content_type", "link"]);
  replace("_revision", ["etag"]);
  db.close();
}

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

interface Seen {
  /** Elements by name, class and names of attributes. */
  readonly elements: Readonly<Record<string, number>>;
  readonly hits: number;
  readonly violations: readonly string[];
  readonly mishaps: readonly string[];
  readonly schemes: readonly string[];
}

/** The marks of an axis depend on the lengths of its texts, so of drawings only the kinds of elements count. */
const describeElements = `globalThis.describeElements = (root) => {
  const elements = {};
  for (const element of root.querySelectorAll("*")) {
    const signature = [element.localName, ...element.classList, ...element.getAttributeNames().sort()].join(" ");
    elements[signature] = element.closest("svg") ? 1 : (elements[signature] ?? 0) + 1;
  }
  return elements;
}`;

async function look({ page, mishaps }: Watched, address: string): Promise<Seen> {
  await page.goto(address);
  const seen = await page.evaluate<Omit<Seen, "mishaps">>(`(() => {
    const addresses = [...document.querySelectorAll("[href], [src], [action]")].map(
      (element) => element.getAttribute("href") ?? element.getAttribute("src") ?? element.getAttribute("action"));
    const schemes = [...new Set(addresses.map((text) => new URL(text, location).protocol))];
    return { elements: describeElements(document), hits, violations: policyViolations, schemes };
  })()`);
  return { ...seen, mishaps: mishaps.splice(0) };
}

const isHarmless = { hits: 0, violations: [], mishaps: [] };

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
