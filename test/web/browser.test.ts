/**
 * The pages in a real browser: every page that links lead to, in light and dark, wide and narrow, without script errors,
 * violations of accessibility or of the policy, and requests elsewhere. Each is loaded once: audits take most of the time.
 */

import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { createServer } from "../../src/web/server.ts";
import { checkPage, launchBrowser, sound, type Watched, watchPage } from "./support/browser.ts";
import { linksIn, startWebRig, type WebRig } from "./support/web-rig.ts";

const schedules = {
  ofAccounts: 1,
  schedules: [
    {
      ...{
        name: "daily",
        cron: "0 6 * * *",
        tz: "Europe/Paris",
        command: "sync",
        nextAt: null,
        step: "minute" as const,
      },
      lateSince: null,
      runs: [{ startedAt: "2025-01-01T06:00:00.000Z", seconds: 60, outcome: "done", details: "3 changed" }],
    },
  ],
};

let web: WebRig;
let browser: Browser;
let paths: readonly string[];
beforeAll(async () => {
  web = await startWebRig({ readSchedules: () => schedules });
  paths = await kindsOfPages();
  browser = await launchBrowser(inject("chromium"));
});
afterAll(async () => {
  await browser.close();
  await web[Symbol.asyncDispose]();
});

/** Answers with a chart and without one, and errors beside their forms. */
const answers = ["/questions/top-brands", "/sql?q=select+nam+from+brand", "/compare?from=nonsense"];

/** One address of each kind that is found by following links, and pages on which nothing is found. */
async function kindsOfPages(): Promise<readonly string[]> {
  const found = new Map<string, string>();
  const queue = ["/", "/search?q=a", "/search?q=zzzz", ...answers, "/models?as-of=1", "/models?q=zzzz"];
  const seen = new Set(queue);
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const kind = kindOf(path);
    if (found.has(kind)) continue;
    found.set(kind, path);
    const { body } = await web.get(path);
    for (const href of linksIn(body).filter(isPage)) {
      if (!seen.has(href)) queue.push(href);
      seen.add(href);
    }
  }
  return [...found.values()];
}

const isPage = (href: string) => /^\/(?!assets)[^#]*$/.test(href) && !/\.\w+(\?|$)/.test(href);

const shapeOf = (path: string) =>
  path
    .replace(/[?#].*/, "")
    .replace(/^\/(changes|questions|tables)\/[^/]+$/, "/$1/*")
    .replace(/^\/brand\/[^/]+(\/[^/]+)?$/, (_all, model) => `/brand/*${model ? "/*" : ""}`);

/** The last one that was found, such as an answer instead of an empty form. */
const oneOfEachShape = () => [...new Map(paths.map((path) => [shapeOf(path), path])).values()];

/** The shape of a path, and whether it shows the past, a part of a list, or nothing. */
function kindOf(path: string): string {
  const query = new URL(path, "http://here.invalid").searchParams;
  // The past has a banner, which is the same on all pages.
  const isPast = query.has("as-of") && ["/models", "/changes/*"].includes(shapeOf(path));
  const hasState = !isPast && [...query.keys()].some((name) => name !== "as-of");
  const isWrong = answers.slice(1).includes(path) || query.get("q") === "zzzz";
  return [shapeOf(path), isPast, hasState, isWrong].join(" ");
}

const open = (options: BrowserContextOptions): Promise<Watched> =>
  watchPage(browser, web.server.url, options);

it("every kind of page is accessible, fits and asks nothing elsewhere, light and dark, wide and narrow", async () => {
  expect(new Set(paths.map(shapeOf))).toEqual(
    new Set([
      ...["/", "/brands", "/models", "/search", "/brand/*", "/brand/*/*"],
      ...["/changes", "/changes/*", "/compare", "/runs", "/plan", "/schedules"],
      ...["/questions", "/questions/*", "/sql", "/tables", "/tables/*"],
    ]),
  );
  const watched = await open({});
  const fullyAudited = new Set(oneOfEachShape());
  // Further pages of the same shape have the same parts in the same colours.
  for (const path of paths) {
    const { href } = new URL(path, web.server.url);
    expect(await checkPage(watched, href, fullyAudited.has(path) ? 2 : 1)).toEqual(sound(href));
  }
  await watched.page.context().close();
});

it("results appear while one types, lead to pages, and the slash key leads to the box", async () => {
  const { page, mishaps } = await open({});
  await page.goto(web.server.url);
  await page.keyboard.press("/");
  const [name = ""] = web.rig.read(({ db }) =>
    db.prepare("select name from brand_current order by bra_count desc limit 1").pluck().all(),
  ) as string[];
  await page.keyboard.type(name);
  const result = page.locator("#results a.result").first();
  await result.waitFor();
  await result.click();
  expect(await page.locator("h1").textContent()).toBe(name);
  expect(mishaps).toEqual([]);
  await page.context().close();
});

it("everything is reached without script", async () => {
  const { page, mishaps } = await open({ javaScriptEnabled: false });
  await page.goto(web.server.url);
  await page.fill("#q", "a");
  await page.click("form.search button");
  await page.locator("a.result").first().click();
  expect(await page.locator("h2#facts").count()).toBe(1);
  await page.click(".point summary");
  await page.fill("#as-of", "1");
  await page.click(".panel button");
  expect(await page.locator(".banner").textContent()).toContain("as of run 1");
  expect(mishaps).toEqual([]);
  await page.context().close();
});

it("the key behind an address opens a session and leaves the address", async () => {
  const server = await createServer({
    ...{ findCatalogue: () => web.rig.file, port: 0, host: "0.0.0.0", clock: web.rig.clock },
  });
  const { port } = new URL(server.url);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`http://127.0.0.1:${port}/brands#key=${server.key}`);
  await page.locator("h1", { hasText: "Brands" }).waitFor();
  expect(page.url()).toBe(`http://127.0.0.1:${port}/brands`);
  await page.context().clearCookies();
  await page.goto(`http://127.0.0.1:${port}/models#key=wrong`);
  await page.getByRole("alert").filter({ hasText: "not the key of this server" }).waitFor();
  await page.fill("#key", server.key);
  await page.keyboard.press("Enter");
  await page.locator("h1", { hasText: "Models" }).waitFor();
  await page.context().close();
  await server.close();
});
