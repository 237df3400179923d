/** Pages in a real browser, and what must not happen there: errors, refused content, requests elsewhere, bad accessibility. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { printProblems } from "./print.ts";

const flags = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const launchBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: flags });

export interface Watched {
  readonly page: Page;
  /** Whatever must not happen. */
  readonly mishaps: string[];
}

const patienceMillis = 80_000;

/** @param origin requests to any other are mishaps */
export async function watchPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext(options);
  // On a busy machine a page may take longer than the 30 seconds of Playwright.
  context.setDefaultTimeout(patienceMillis);
  const page = await context.newPage();
  const mishaps: string[] = [];
  page.on("console", (message) => {
    // The status of the page itself.
    const isStatus = message.location().url === page.url() && /with a status of 4\d\d/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isStatus) mishaps.push(message.text());
  });
  page.on("pageerror", ({ message }) => mishaps.push(message));
  page.on("request", (request) => {
    if (!/^data:/.test(request.url()) && !request.url().startsWith(origin))
      mishaps.push(`asks ${request.url()}`);
  });
  await page.addInitScript(`globalThis.policyViolations = [];
    addEventListener("securitypolicyviolation", (event) => policyViolations.push(event.violatedDirective));
    globalThis.shifts = 0;
    new PerformanceObserver((list) => { for (const { value } of list.getEntries()) shifts += value; })
      .observe({ type: "layout-shift", buffered: true });`);
  return { page, mishaps };
}

const looks = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 375 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 375 },
] as const;

/** The score of layout shifts; 0.1 is what browsers call good. */
const maxShifts = 0.01;

export interface Checked {
  readonly address: string;
  /** Refused by the page's policy. */
  readonly violations: readonly string[];
  readonly problems: readonly string[];
  readonly mishaps: readonly string[];
}

/** Until then, nothing can jump. */
const drawn = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

/** What differs between the looks of a page. */
const rulesOfLooks = ["color-contrast", "link-in-text-block", "scrollable-region-focusable"];

/** @param audited the first looks that are audited, by all rules in the first one; the others only have to fit */
export async function checkPage(
  { page, mishaps }: Watched,
  address: string,
  audited: number,
): Promise<Checked> {
  await page.setViewportSize({ width: looks[0].width, height: 800 });
  await page.emulateMedia({ colorScheme: looks[0].colorScheme, reducedMotion: "reduce" });
  await page.goto(address);
  const problems: string[] = [];
  // The policy of the page refuses inline scripts, and not those of the debugger.
  await page.evaluate(axe);
  await page.evaluate(drawn);
  const shifts = await page.evaluate<number>("shifts");
  if (shifts > maxShifts) problems.push(`jumps while it loads, by ${shifts}`);
  for (const [n, { colorScheme, width }] of looks.entries()) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    if (overflow > 0) problems.push(`${width} pixels are too narrow by ${overflow}`);
    if (n < audited) problems.push(...(await auditPage(page, n > 0)).map((text) => `${colorScheme} ${text}`));
  }
  problems.push(...(await printProblems(page)));
  const violations = await page.evaluate<string[]>("policyViolations");
  return { address, violations, problems, mishaps: mishaps.splice(0) };
}

/** @param isAgain whether the page has passed all rules in another look */
async function auditPage(page: Page, isAgain: boolean): Promise<string[]> {
  const options = { resultTypes: ["violations"], ...(isAgain && { runOnly: rulesOfLooks }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

export const sound = (address: string): Checked => ({ address, violations: [], problems: [], mishaps: [] });

/** The text of one element as it is shown, without what is hidden. */
export async function visibleText(element: Locator): Promise<string> {
  await element.waitFor();
  return (await element.allInnerTexts()).join();
}
