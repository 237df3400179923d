/**
 * A connection whose statements are prepared once for each text, and not for each page: SQLite takes longer to plan most of
 * them than to run them. In: a connection that stays open between pages. Out: one that behaves alike.
 */
import type { Connection } from "../../mirror/file/connection.ts";

type Arguments = unknown[];
/** What is used of better-sqlite3's. */
interface Statement {
  get(...parameters: Arguments): unknown;
  all(...parameters: Arguments): unknown[];
  run(...parameters: Arguments): unknown;
  iterate(...parameters: Arguments): IterableIterator<unknown>;
  columns(): unknown;
}

/** Each takes some kilobytes, and some texts contain the number of a resource. */
const maxKept = 150;

export function keepStatements(db: Connection): Connection {
  const kept = new KeptStatements();
  return Object.create(db, {
    prepare: { value: (text: string) => new PreparedOnce(db, text, kept) },
  }) as Connection;
}

/** By text and form; the last used one is the last. */
class KeptStatements {
  readonly #kept = new Map<string, Statement>();

  /** So that no other caller gets it. */
  take(key: string): Statement | undefined {
    const statement = this.#kept.get(key);
    this.#kept.delete(key);
    return statement;
  }

  keep(key: string, statement: Statement): Statement {
    this.#kept.delete(key);
    this.#kept.set(key, statement);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
    return statement;
  }
}

/** Callers that want other rows of the same text, such as those without names, have another statement. */
class PreparedOnce {
  readonly #db: Connection;
  readonly #text: string;
  readonly #kept: KeptStatements;
  readonly #form = { pluck: false, raw: false, safeIntegers: false };
  #statement: Statement | null = null;

  constructor(db: Connection, text: string, kept: KeptStatements) {
    this.#db = db;
    this.#text = text;
    this.#kept = kept;
  }

  pluck(isOn = true): this {
    return this.#change("pluck", isOn);
  }

  raw(isOn = true): this {
    return this.#change("raw", isOn);
  }

  safeIntegers(isOn = true): this {
    return this.#change("safeIntegers", isOn);
  }

  get(...parameters: Arguments): unknown {
    return this.#find().get(...parameters);
  }

  all(...parameters: Arguments): unknown[] {
    return this.#find().all(...parameters);
  }

  run(...parameters: Arguments): unknown {
    return this.#find().run(...parameters);
  }

  columns(): unknown {
    return this.#find().columns();
  }

  /** With a statement that no one else has, since it is busy until the last row. */
  *iterate(...parameters: Arguments): Generator<unknown> {
    const key = `iterate ${this.#key()}`;
    const statement = this.#kept.take(key) ?? this.#prepare();
    try {
      yield* statement.iterate(...parameters);
    } finally {
      this.#kept.keep(key, statement);
    }
  }

  #change(name: "pluck" | "raw" | "safeIntegers", isOn: boolean): this {
    this.#form[name] = isOn;
    this.#statement = null;
    return this;
  }

  #find(): Statement {
    this.#statement ??= this.#findByKey(this.#key());
    return this.#statement;
  }

  #findByKey(key: string): Statement {
    return this.#kept.keep(key, this.#kept.take(key) ?? this.#prepare());
  }

  #key(): string {
    return `${Object.values(this.#form)} ${this.#text}`;
  }

  #prepare(): Statement {
    const { pluck, raw, safeIntegers } = this.#form;
    const statement = this.#db.prepare<Arguments>(this.#text);
    if (pluck) statement.pluck();
    if (raw) statement.raw();
    if (safeIntegers) statement.safeIntegers();
    return statement;
  }
}
