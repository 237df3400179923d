/** Suggestions for a search without results: tombstones that match, and similar words that find something. */
import { prepareColumn } from "../mirror/file/statements.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { toPhrase, toWords } from "../mirror/search/search-words.ts";
import { plainName, similarNames, slugify } from "../platform/text/fuzzy-names.ts";
import { countFound, type SearchOptions, search } from "./search.ts";
import { q } from "./views.ts";

export interface SearchSuggestion {
  /** How many tombstones match. */
  readonly gone: number;
  /** Texts that find something, the most similar first; at most three. */
  readonly similar: readonly string[];
}

/** What to search for instead of a text that finds nothing. */
export function suggestSearch(
  mirror: Pick<MirrorReader, "db" | "asOf">,
  text: string,
  { kind }: Pick<SearchOptions, "kind"> = {},
): SearchSuggestion {
  const ofKind = kind === undefined ? {} : { kind };
  const hasResults = (words: string) => search(mirror, words, { ...ofKind, limit: 1 }).length > 0;
  const gone = countFound(mirror, text, { ...ofKind, gone: true });
  // Later entries replace earlier ones that differ only in accents and case: a brand's own name is preferred.
  const candidates = new Map(
    [...correctWords(mirror, text, hasResults), ...brandNames(mirror)].map((name) => [
      slugify(plainName(name)),
      name,
    ]),
  );
  return { gone, similar: similarNames(text, candidates.values(), 6).filter(hasResults).slice(0, 3) };
}

/** The text with its unknown words replaced by similar known ones. */
function correctWords(
  mirror: Pick<MirrorReader, "db">,
  text: string,
  hasResults: (words: string) => boolean,
): string[] {
  const words = toWords(text).map((word) => toPhrase([word]));
  if (words.every(hasResults)) return [];
  const known = knownWords(mirror);
  const choices = words.map((word) => (hasResults(word) ? [word] : similarNames(word, known, 3)));
  const corrected = [0, 1, 2]
    .map((n) => choices.map((similar) => similar[Math.min(n, similar.length - 1)] ?? ""))
    .filter((chosen) => !chosen.includes(""))
    .map((chosen) => chosen.join(" "));
  return [...new Set(corrected)].filter(hasResults);
}

/** All indexed words, also of tombstones and of the past. Raw SQL: FTS5's vocabulary table. */
function knownWords({ db }: Pick<MirrorReader, "db">): string[] {
  db.exec("create virtual table if not exists temp._word using fts5vocab (main, _search_index, col)");
  return db.prepare<[], string>("select term from temp._word where col = 'text'").pluck().all();
}

function brandNames({ db }: Pick<MirrorReader, "db">): string[] {
  const names = prepareColumn(db, () =>
    q.selectFrom("known").select("name").where("kind", "=", "brand").where("name", "is not", null),
  ).all();
  return names.filter((name) => typeof name === "string");
}
