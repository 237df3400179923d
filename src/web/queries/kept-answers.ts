/** Answers of questions that were asked lately: they are the same until the mirror changes. */
import type { FirstRows } from "./answers.ts";

export interface KeptAnswers {
  /** Calls `ask` if the answer is not known. @param version of the mirror; a changed one may be five seconds older */
  find<Answer extends FirstRows>(key: string, version: string, ask: () => Promise<Answer>): Promise<Answer>;
}

const maxKept = 50;
/** An answer with more text is not kept. */
const maxCharacters = 100_000;
const recentMillis = 5000;
/** Some questions depend on the time. */
const maxAgeMillis = 60_000;

/** @param now epoch milliseconds */
export function createKeptAnswers(now: () => number): KeptAnswers {
  const kept = new Map<
    string,
    { readonly answer: FirstRows; readonly version: string; readonly at: number }
  >();
  return {
    async find(key, version, ask) {
      const known = kept.get(key);
      const age = now() - (known?.at ?? 0);
      if (known !== undefined && age < (known.version === version ? maxAgeMillis : recentMillis))
        return known.answer as Awaited<ReturnType<typeof ask>>;
      const at = now();
      const answer = await ask();
      kept.delete(key);
      if (lengthOf(answer) <= maxCharacters) kept.set(key, { answer, version, at });
      const [oldest] = kept.keys();
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
      return answer;
    },
  };
}

const lengthOf = ({ rows }: FirstRows): number =>
  rows.flat().reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 0), 0);
