/** Answers of questions that were asked lately: they are the same until the mirror changes. */
import type { FirstRows } from "./answers.ts";

/** Of a mirror. */
export interface AnsweredState {
  readonly version: string;
  /** Whether a sync writes it. */
  readonly isWritten: boolean;
}

export interface KeptAnswers {
  /**
   * Calls `ask` if the answer is not known. While a sync writes, the last answer is returned until the next one is there, for
   * a minute; afterwards a changed mirror may be five seconds older.
   */
  find<Answer extends FirstRows>(
    key: string,
    state: AnsweredState,
    ask: () => Promise<Answer>,
  ): Promise<Answer>;
}

interface Kept {
  readonly answer: FirstRows;
  readonly version: string;
  /** When it was asked: epoch milliseconds. */
  readonly at: number;
  /** How long the answer took. */
  readonly millis: number;
}

const maxKept = 50;
/** An answer with more text is not kept. */
const maxCharacters = 100_000;
const recentMillis = 5000;
/** Some questions depend on the time. */
const maxAgeMillis = 60_000;
/** Of an answer that is shown while a sync writes and the next one is on its way. */
const maxStaleMillis = 60_000;
/** A question that takes long is asked less often while a sync writes. */
const timesCost = 20;

/** @param now epoch milliseconds */
export function createKeptAnswers(now: () => number): KeptAnswers {
  const kept = new Map<string, Kept>();
  const renewed = new Set<string>();
  const askNow = async <Answer extends FirstRows>(
    key: string,
    version: string,
    ask: () => Promise<Answer>,
  ): Promise<Answer> => {
    const [at, startedAt] = [now(), performance.now()];
    const answer = await ask();
    kept.delete(key);
    if (lengthOf(answer) <= maxCharacters)
      kept.set(key, { answer, version, at, millis: performance.now() - startedAt });
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return answer;
  };
  return {
    async find(key, { version, isWritten }, ask) {
      const known = kept.get(key);
      if (known === undefined) return await askNow(key, version, ask);
      const answer = known.answer as Awaited<ReturnType<typeof ask>>;
      const age = now() - known.at;
      if (age < (known.version === version ? maxAgeMillis : recentMillis)) return answer;
      if (!isWritten || age >= maxStaleMillis + timesCost * known.millis)
        return await askNow(key, version, ask);
      if (age >= timesCost * known.millis && !renewed.has(key)) {
        renewed.add(key);
        // The page is shown without it: an error shows on a page that waits for the answer.
        void askNow(key, version, ask)
          .catch(() => {})
          .finally(() => renewed.delete(key));
      }
      return answer;
    },
  };
}

const lengthOf = ({ rows }: FirstRows): number =>
  rows.flat().reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 0), 0);
