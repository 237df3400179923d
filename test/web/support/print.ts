/** A page as it is printed, compared with the same page on the screen. */
import type { Page } from "playwright-core";

/** Of A4 paper, between margins of a centimetre, in pixels. */
const paperWidth = 718;

/** What a reader of paper cannot use. */
const leftOut = ".downloads, .filter, .search, .tabs, .facets, .pager, .chosen, .actions";

const remember = `globalThis.onScreen = [...document.querySelectorAll("main *")].filter((element) =>
  element.childElementCount === 0 && element.textContent.trim() !== "" && element.checkVisibility())`;

const compare = `(() => {
  const problems = [];
  // A page that follows a sync may have replaced some meanwhile.
  for (const element of onScreen.filter((one) => one.isConnected))
    if (!element.checkVisibility() && element.closest(${JSON.stringify(leftOut)}) === null)
      problems.push("not printed: " + element.textContent.trim().slice(0, 60));
  for (const element of document.querySelectorAll("main table, main svg, main pre, main img")) {
    const beyond = element.getBoundingClientRect().right - innerWidth;
    if (element.checkVisibility() && beyond > 1)
      problems.push("cut by " + Math.round(beyond) + " pixels: " + element.localName + " " + element.textContent.trim().slice(0, 60));
  }
  for (const table of document.querySelectorAll("main figure table"))
    if (table.getBoundingClientRect().bottom > table.closest("figure").getBoundingClientRect().bottom + 1)
      problems.push("printed over what is below: " + table.textContent.trim().slice(0, 60));
  for (const cell of document.querySelectorAll("main .chart td"))
    if (!cell.checkVisibility()) return [...problems, "a chart is printed without its numbers"];
  return problems;
})()`;

/** Leaves the page as it was on the screen. */
export async function printProblems(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: paperWidth, height: 800 });
  await page.evaluate(remember);
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  const problems = await page.evaluate<string[]>(compare);
  await page.emulateMedia({ media: "screen" });
  return problems;
}
