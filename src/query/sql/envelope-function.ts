/** The SQL function `envelope(href)`: the body of a resource as the service sent it; null if the mirror has none. */
import Database from "better-sqlite3";
import { decodeBody, type StoredBody } from "../../mirror/bodies/compression.ts";
import { DamagedBodyError } from "../../mirror/file/errors.ts";
import { hasCode, messageOf } from "../../platform/errors.ts";
import { QueryError } from "./errors.ts";

interface EnvelopeFile {
  readonly path: string;
  /** Statements that create views as of a point. */
  readonly views: readonly string[];
}

// Raw SQL: statements.ts would load Kysely, and the process has to start fast. The plus sign is that of `query-builder.ts`.
const selectBody = `select c.codec, c.size, c.body, c.dictionary_id as dictionaryId from _resource r
  join _revision v on v.resource_id = r.id join _content c on c.id = v.content_id where r.url = +? order by v.seq desc limit 1`;

/**
 * A connection that executes a statement can execute no other one, so the function has connections of its own. They open at
 * the first call.
 * @param files the first one with the resource counts
 * @returns closes these connections
 */
export function addEnvelopeFunction(database: Database.Database, files: readonly EnvelopeFile[]): () => void {
  const opened: Database.Database[] = [];
  const open = ({ path, views }: EnvelopeFile): ((href: string) => string | null) => {
    const connection = new Database(path, { readonly: true, fileMustExist: true });
    opened.push(connection);
    for (const view of views) connection.exec(view);
    const select = connection.prepare<[string], StoredBody>(selectBody);
    const selectDictionary = connection
      .prepare<[number], Buffer>("select body from _dictionary where id = ?")
      .pluck();
    return (href) => {
      const stored = select.get(href);
      if (stored === undefined) return null;
      const { dictionaryId } = stored;
      const dictionary = dictionaryId === null ? null : (selectDictionary.get(dictionaryId) ?? null);
      return decodeBody(stored, dictionary).toString();
    };
  };
  let readers: readonly ((href: string) => string | null)[] | undefined;
  const read = (href: unknown): string | null => {
    if (typeof href !== "string") return null;
    try {
      readers ??= files.map(open);
      for (const readOne of readers) {
        const body = readOne(href);
        if (body !== null) return body;
      }
      return null;
    } catch (error) {
      const isDamage = error instanceof DamagedBodyError || hasCode(error, "SQLITE_CORRUPT");
      throw new QueryError(
        isDamage ? "damaged" : "failed",
        `envelope() failed: ${messageOf(error)}.`,
        "It works on mirrors; `armoire mirror check` shows damage.",
      );
    }
  };
  database.function("envelope", { deterministic: true, directOnly: true }, read);
  return () => {
    for (const connection of opened) connection.close();
  };
}
