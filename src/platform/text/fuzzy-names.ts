/** Comparing names as people type them: without accents or capitals, as slugs, with typing errors. */

/** A slug in the usual form: no accents, and single hyphens for everything but letters and digits. */
export function slugify(name: unknown): string {
  if (typeof name !== "string") return "";
  return withoutAccents(name)
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}

/**
 * A name without case and accents. Looser than the words of search: every script loses its marks, since an ambiguous
 * key is refused anyway.
 */
export function plainName(name: string): string {
  return toPlainLetters(withoutAccents(name));
}

/** Normalizations under which two spellings are equal, the strictest first. An empty result matches nothing. */
export const spellings: readonly ((name: string) => string)[] = [
  (name) => name,
  plainName,
  (name) => slugify(plainName(name)),
];

function withoutAccents(name: string): string {
  return name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Suggestions for a misspelt name, the most similar first: most letters agree, or its first three occur in them. */
export const similarNames = (given: string, names: Iterable<string>, max: number): string[] =>
  mostSimilar(given, names, max, similarityOf);

/** The same for names of several words, such as columns: also those that share a word, `full_name` for `model_name`. */
export const similarOrSharing = (given: string, names: Iterable<string>, max: number): string[] =>
  mostSimilar(given, names, max, (slug, known) =>
    Math.max(similarityOf(slug, known), sharedWords(slug, known)),
  );

function mostSimilar(
  given: string,
  names: Iterable<string>,
  max: number,
  compare: (givenSlug: string, knownSlug: string) => number,
): string[] {
  const slug = slugify(plainName(given));
  if (slug === "") return [];
  return [...new Set(names)]
    .map((name) => ({ name, similarity: compare(slug, slugify(plainName(name))) }))
    .filter(({ similarity }) => similarity > 0)
    .sort((a, b) => b.similarity - a.similarity || (a.name < b.name ? -1 : 1))
    .slice(0, max)
    .map(({ name }) => name);
}

/** The time of a comparison grows with the product of both lengths. */
const maxCompared = 200;

/** The share of letters that need no change; 0 if too low for a typing error. Of longer names, only the beginnings count. */
function similarityOf(givenSlug: string, knownSlug: string): number {
  const given = givenSlug.slice(0, maxCompared);
  const slug = knownSlug.slice(0, maxCompared);
  const similarity = 1 - countEdits(given, slug) / Math.max(given.length, slug.length);
  return similarity > 0.6 || slug.includes(given.slice(0, 3)) ? similarity : 0;
}

/** The share of their words that both have. Short words, such as `is` and `at`, say too little. */
function sharedWords(givenSlug: string, knownSlug: string): number {
  const given = givenSlug.slice(0, maxCompared).split("-");
  const known = knownSlug.slice(0, maxCompared).split("-");
  const shared = given.filter((word) => word.length > 2 && known.includes(word));
  return (2 * shared.length) / (given.length + known.length);
}

/** The Levenshtein distance, where two letters in each other's place are one edit, as in `brnad`. */
function countEdits(from: string, to: string): number {
  const [given, letters] = [[...from], [...to]];
  let last: readonly number[] = [];
  let row: readonly number[] = [...letters.keys(), letters.length];
  for (const [index, letter] of given.entries()) {
    const next = [index + 1];
    for (const [n, other] of letters.entries()) {
      const [diagonal = 0, above = 0, left = 0] = [row[n], row[n + 1], next[n]];
      const isSwapped = index > 0 && n > 0 && letter === letters[n - 1] && other === given[index - 1];
      const swapped = isSwapped ? (last[n - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(above + 1, left + 1, diagonal + (letter === other ? 0 : 1), swapped));
    }
    [last, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}

/** Letters that Unicode does not decompose and many keyboards lack. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  þ: "th",
  ı: "i",
  // Final sigma.
  ς: "σ",
};

const special = new RegExp(`[${Object.keys(plainLetters).join("")}]`, "gu");

/** @param text in lower case */
export function toPlainLetters(text: string): string {
  return text.replace(special, (letter) => plainLetters[letter] ?? letter);
}
