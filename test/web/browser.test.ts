/**
 * The pages in a real browser: every page that links lead to, in light and dark, wide and narrow, without script errors,
 * violations of accessibility or of the policy, and requests elsewhere. Each is loaded once: audits take most of the time.
 */

import { text } from "node:stream/consumers";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createServer } from "../../src/web/server.ts";
import { checkPage, launchBrowser, sound, visibleText, type Watched, watchPage } from "./support/browser.ts";
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
        nextAt: "2099-01-01T05:00:00.000Z",
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

it("every kind of page is accessible, fits, prints whole and asks nothing elsewhere, light and dark, wide and narrow", async () => {
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

it("by keyboard alone: the slash key leads to the box, results appear while one types and lead to pages", async () => {
  const { page, mishaps } = await open({});
  await page.goto(web.server.url);
  await page.keyboard.press("/");
  const [name = ""] = web.rig.read(({ db }) =>
    db.prepare("select name from brand_current order by bra_count desc limit 1").pluck().all(),
  ) as string[];
  await page.keyboard.type(name);
  const result = page.locator("#results a.result").first();
  await result.waitFor();
  // The box, its button, the first result.
  for (const key of ["Tab", "Tab", "Enter"]) await page.keyboard.press(key);
  await page.waitForURL(/\/brand\//);
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
  const { page } = await watchPage(browser, `http://127.0.0.1:${port}`);
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

it("the first page has what needs attention first, then what is held, then what happened, wide and narrow", async () => {
  const failed = { ...schedules, schedules: schedules.schedules.map(withLastRun("failed")) };
  const troubled = await createServer({
    ...{ findCatalogue: () => web.rig.file, port: 0, clock: web.rig.clock, readSchedules: () => failed },
  });
  const { page } = await open({});
  const parts = ["form.search", ".facts", ".figures", ".charts", "#changes"];
  const order = async (address: string) => {
    await page.goto(address);
    const tops = await page.evaluate<number[]>(
      `${JSON.stringify(parts)}.map((part) => document.querySelector("main " + part).getBoundingClientRect().top)`,
    );
    return parts.toSorted((a, b) => (tops[parts.indexOf(a)] ?? 0) - (tops[parts.indexOf(b)] ?? 0));
  };
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await order(web.server.url)).toEqual(["form.search", ".figures", ".facts", ".charts", "#changes"]);
    expect(await order(troubled.url)).toEqual(["form.search", ".facts", ".figures", ".charts", "#changes"]);
    expect(await visibleText(page.locator(".facts"))).toMatch(/schedules\s+daily failed, .* ago/i);
  }
  await page.context().close();
  await troubled.close();
});

const withLastRun = (outcome: string) => (schedule: (typeof schedules.schedules)[number]) => ({
  ...schedule,
  runs: schedule.runs.map((run) => ({ ...run, outcome })),
});

describe("from the screen alone", () => {
  it("one finds which brands cover bands 28 to 30 and cups H to K in UK sizes, and takes the CSV", async () => {
    const { page, mishaps } = await open({ acceptDownloads: true });
    await page.goto(web.server.url);
    await page.getByRole("link", { name: "Questions" }).click();
    const entry = page.locator("main div", {
      hasText: "Which brands have at least one size in a range of bands and cups",
    });
    await entry.getByRole("link").last().click();
    await page.getByLabel("System").selectOption("UK");
    await page.getByRole("textbox", { name: "Band" }).fill("28–30");
    await page.getByRole("textbox", { name: "Cup" }).fill("H–K");
    await page.getByRole("button", { name: "Answer" }).click();
    const seen = await page.getByRole("table", { name: "Answer" }).locator("tbody tr").allInnerTexts();
    const brands = web.rig.read(({ db }) =>
      db.prepare<[], { brand: string; label: string }>(labelsInUk).all(),
    );
    const covering = new Set(
      brands.filter(({ label }) => /^(28|30)(H|HH|J|JJ|K)$/.test(label)).map(({ brand }) => brand),
    );
    expect(covering.size).toBeGreaterThan(1);
    expect(new Set(seen.map((row) => row.split("\t")[0]))).toEqual(covering);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "CSV" }).click(),
    ]);
    const csv = await text(await download.createReadStream());
    expect(download.suggestedFilename()).toMatch(/\.csv$/);
    expect(csv.trim().split(/\r?\n/)).toHaveLength(1 + seen.length);
    for (const brand of covering) expect(csv).toContain(brand.replaceAll('"', '""'));
    expect(mishaps).toEqual([]);
    await page.context().close();
  });

  it("one finds the result of the last run, the next run, and what is left to fetch", async () => {
    const { page, mishaps } = await open({});
    await page.goto(web.server.url);
    const seen = await visibleText(page.locator("main"));
    expect(seen).toMatch(
      /The last run was all right\. Run 2 of the catalogue, .* ago: \d+ new, \d+ changed, \d+ gone/,
    );
    expect(seen).toMatch(/next run\s+daily, 2099-01-01 05:00 UTC/i);
    expect(seen).toMatch(/still to fetch\s+nothing: the next run looks for changes \(plan\)/i);
    await page.getByRole("link", { name: "plan", exact: true }).click();
    const plan = await visibleText(page.locator("main"));
    expect(plan).toMatch(/allowance\s+\d+ left of 4000 a day/i);
    expect(plan).toMatch(/Due now/);
    expect(mishaps).toEqual([]);
    await page.context().close();
  });
});

/** Each size as its brand, or the list of its other names, has it in UK sizes. */
const labelsInUk = `select b.name as brand, replace(coalesce(json_extract(s.alternative_sizes, '$.UK'),
    case b.default_sizing_system when 'UK' then s.size else '' end), ' ', '') as label
  from size_current s join brand b on b.href = s.brand_href`;
