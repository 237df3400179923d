/** Mirrors whose every text is another one, and what a browser makes of their pages. */
import Database from "better-sqlite3";
import type { Browser } from "playwright-core";
import { toStored } from "../../../src/mirror/rows/cells.ts";
import { typedTables } from "../../../src/mirror/rows/versioned-rows.ts";
import { type Watched, watchPage } from "./browser.ts";

/** Numbers that order and limit rows, so that both mirrors show the same ones. */
const keptColumns = new Set(["bra_count", "is_discontinued", "band", "n", "last_modified_at"]);

/** The same place gets the text of the same number in both mirrors. */
export function replaceTexts(file: string, texts: readonly string[]): void {
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
      db.exec(
        `update ${table} set ${column} = ${made} where ${column} is not null and typeof(${column}) <> 'real'`,
      );
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

export interface Seen {
  /** Elements by name, class and names of attributes. */
  readonly elements: Readonly<Record<string, number>>;
  readonly hits: number;
  readonly violations: readonly string[];
  readonly mishaps: readonly string[];
  readonly schemes: readonly string[];
  /** On a narrow screen, in pixels. */
  readonly overflow: number;
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

export async function look({ page, mishaps }: Watched, address: string): Promise<Seen> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(address);
  const seen = await page.evaluate<Omit<Seen, "mishaps" | "overflow">>(`(() => {
    const addresses = [...document.querySelectorAll("[href], [src], [action]")].map(
      (element) => element.getAttribute("href") ?? element.getAttribute("src") ?? element.getAttribute("action"));
    const schemes = [...new Set(addresses.map((text) => new URL(text, location).protocol))];
    return { elements: describeElements(document), hits, violations: policyViolations, schemes };
  })()`);
  await page.setViewportSize({ width: 375, height: 800 });
  const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  return { ...seen, overflow, mishaps: mishaps.splice(0) };
}

/** What hostile texts must not change. */
export const isHarmless = { hits: 0, violations: [], mishaps: [], overflow: 0 };

export async function watchElements(browser: Browser, origin: string): Promise<Watched> {
  const watched = await watchPage(browser, origin);
  await watched.page.addInitScript(
    `globalThis.hits = 0; globalThis.hit = () => { hits++; }; ${describeElements}`,
  );
  return watched;
}
