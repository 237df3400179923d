/** A canned question: SQL with a name, over the public views, so that it works wherever these do. */

export interface Question {
  /** What it is asked by: lower-case words with hyphens. */
  readonly name: string;
  /** In one sentence, with what its answer depends on. */
  readonly asks: string;
  readonly options: readonly QuestionOption[];
  /** Whether it makes sense for an account too; else for a catalogue only. */
  readonly isOfAccounts?: boolean;
  /** One SELECT. Its parameters are the options, by name: null where one is not given and has no default. */
  readonly sql: string;
}

export interface QuestionOption {
  /** A lower-case word; `--name` on the command line, `:name` in the SQL. */
  readonly name: string;
  /**
   * What is to be given, and what the SQL gets: `brand`, a URL, name or slug → a JSON array of the brand's URLs;
   * `seen`, a time or run → text to compare with times of our own; `reported`, the same for `last_modified_at`;
   * `limit`, how many rows at most → one more than that, so that a cut shows; `text`, as it is.
   */
  readonly type: "brand" | "seen" | "reported" | "limit" | "text";
  readonly about: string;
  /** What it is when it is left out; null for nothing. */
  readonly default: number | null;
  readonly isRequired: boolean;
  /** Of a text: all that it can be. */
  readonly choices?: readonly string[];
}
