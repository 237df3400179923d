/** Names as people write them: with or without accents and capitals, as slugs, and nearly right. */
import { toPlainLetters } from "./plain-letters.ts";

/** The usual making of a slug from a name: accents off, everything but letters and digits to single hyphens. */
export function slugify(name: unknown): string {
  if (typeof name !== "string") return "";
  return withoutAccents(name)
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}

/**
 * What all spellings of a name have in common, whatever their case and accents. Looser than the words of search: every
 * script loses its marks, since a key that fits several is refused, and one that fits none helps nobody.
 */
export function plainName(name: string): string {
  return toPlainLetters(withoutAccents(name));
}

/** What is the same in two spellings of a name or slug, the strictest first; empty where nothing is left to compare. */
export const spellings: readonly ((name: string) => string)[] = [
  (name) => name,
  plainName,
  (name) => slugify(plainName(name)),
];

function withoutAccents(name: string): string {
  return name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Those of the names that somebody may have meant, the nearest first: most letters are the same, or the first three stand in it. */
export function namesAlike(wanted: string, names: Iterable<string>, most: number): string[] {
  const slug = slugify(plainName(wanted));
  if (slug === "") return [];
  return [...new Set(names)]
    .map((name) => ({ name, nearness: nearnessOf(slug, slugify(plainName(name))) }))
    .filter(({ nearness }) => nearness > 0)
    .sort((a, b) => b.nearness - a.nearness || (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map(({ name }) => name);
}

/** The share of letters that need no change; 0 where that is too little to be a slip of the fingers. */
function nearnessOf(wanted: string, slug: string): number {
  const nearness = 1 - countEdits(wanted, slug) / Math.max(wanted.length, slug.length);
  return nearness > 0.6 || slug.includes(wanted.slice(0, 3)) ? nearness : 0;
}

/** How many letters are to be added, removed or replaced to come from one to the other. */
function countEdits(from: string, to: string): number {
  const letters = [...to];
  let row = [...letters.keys(), letters.length];
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [n, other] of letters.entries()) {
      const [diagonal = 0, above = 0, left = 0] = [row[n], row[n + 1], next[n]];
      next.push(Math.min(above + 1, left + 1, diagonal + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
