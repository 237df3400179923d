/** What to say where a search finds nothing: what is gone and would fit, and what was perhaps meant. */
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import { namesAlike, plainName, slugify } from "../mirror/search/names.ts";
import { toPhrase, toWords } from "../mirror/search/search-words.ts";
import { type SearchOptions, search } from "./search.ts";

export interface SearchAdvice {
  /** How many that are gone have all of the words. */
  readonly gone: number;
  /** What finds something instead, the likeliest first; at most three. */
  readonly alike: readonly string[];
}

/** @throws MirrorError `older`, as `search` does */
export function adviseSearch(
  mirror: Pick<MirrorReader, "db">,
  text: string,
  { kind }: Pick<SearchOptions, "kind"> = {},
): SearchAdvice {
  const ofKind = kind === undefined ? {} : { kind };
  const finds = (words: string) => search(mirror, words, { ...ofKind, limit: 1 }).length > 0;
  const gone = search(mirror, text, { ...ofKind, gone: true, limit: Number.MAX_SAFE_INTEGER }).length;
  // Of what differs in nothing but accents and case, the brand's own name.
  const names = new Map(
    [...respell(mirror, text, finds), ...brandNames(mirror)].map((name) => [slugify(plainName(name)), name]),
  );
  return { gone, alike: namesAlike(text, names.values(), 6).filter(finds).slice(0, 3) };
}

/** The text with words that there are in place of those that there are not. */
function respell(
  mirror: Pick<MirrorReader, "db">,
  text: string,
  finds: (words: string) => boolean,
): string[] {
  const words = toWords(text).map((word) => toPhrase([word]));
  if (words.every(finds)) return [];
  const known = knownWords(mirror);
  const choices = words.map((word) => (finds(word) ? [word] : namesAlike(word, known, 3)));
  const tries = [0, 1, 2].map((n) => choices.map((words) => words[Math.min(n, words.length - 1)] ?? ""));
  const respelt = tries.filter((words) => !words.includes("")).map((words) => words.join(" "));
  return [...new Set(respelt)].filter(finds);
}

/** Also those of what is gone and of the past: who suggests one tries it first. */
function knownWords({ db }: Pick<MirrorReader, "db">): string[] {
  db.exec("create virtual table if not exists temp._word using fts5vocab (main, _search_index, col)");
  return db.prepare<[], string>("select term from temp._word where col = 'text'").pluck().all();
}

function brandNames({ db }: Pick<MirrorReader, "db">): string[] {
  return db
    .prepare<[], string>("select name from known where kind = 'brand' and name is not null")
    .pluck()
    .all();
}
