/**
 * What a mirror's file defines. Tables, indexes and triggers must be those of its version, since a file may come from a
 * stranger: a view in the place of a table could be an endless query. Public views are only used if they are this version's.
 * All SQL here is raw: `sqlite_schema` and `_migration` are tables of SQLite and of Kysely.
 */
import { hash } from "node:crypto";
import type Database from "better-sqlite3";
import { migrations, schemaDigests, schemaTexts } from "../../../schema/migrations.ts";
import { views } from "../../../schema/views.ts";
import { MirrorError } from "./errors.ts";

/** Identifies the file as a mirror ("arm1"), so that SQLite files of other programs are refused. */
export const applicationId = 0x61726d31;

interface Definition {
  readonly type: "table" | "index" | "trigger" | "view";
  readonly name: string;
  /** Of an index or a trigger; otherwise the name. */
  readonly table: string;
  readonly sql: string;
}

/** In the order of the file, without the indexes that SQLite makes by itself. */
function readDefinitions(db: Database.Database): Definition[] {
  return db
    .prepare<[], Definition>(
      "select type, name, tbl_name as 'table', sql from sqlite_schema where sql is not null order by rowid",
    )
    .all();
}

/**
 * Refuses files that are no mirror, that a newer version has written, or whose tables were changed.
 * @throws MirrorError `not-a-mirror`, `newer`, `damaged`
 */
export function requireMirror(db: Database.Database, file: string): void {
  const definitions = readDefinitions(db);
  const log = definitions.find(({ name }) => name === "_migration");
  if (db.pragma("application_id", { simple: true }) !== applicationId || log === undefined) {
    throw new MirrorError(
      "not-a-mirror",
      file,
      "This is not a mirror of Armoire",
      "Give a file that `armoire sync` has created.",
    );
  }
  // Neither a view nor a table with computed columns: reading those could take for ever.
  if (log.type !== "table" || /\bas\b/i.test(log.sql)) throw changedError(file);
  const applied = db.prepare<[], string>("select name from _migration order by name").pluck().all();
  const unknown = applied.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) {
    throw new MirrorError(
      "newer",
      file,
      `The mirror is from a newer version of Armoire (${unknown.at(-1)}; this version knows ${Object.keys(migrations).at(-1)})`,
      "Install a newer Armoire. The file was not changed.",
    );
  }
  if (!isOfVersion(definitions, applied.at(-1) ?? "") || definitions.some(hidesOwn)) throw changedError(file);
  if (definitions.some((definition) => refersToOwn(db, definition))) throw changedError(file);
}

function isOfVersion(definitions: readonly Definition[], version: string): boolean {
  const text = schemaText(definitions);
  return text === schemaTexts[version] || digestOf(text) === schemaDigests[version];
}

const changedError = (file: string) =>
  new MirrorError(
    "damaged",
    file,
    "The tables, indexes or triggers of this mirror are not as Armoire makes them",
    "Nothing of it is read, since they could change any answer. Restore a backup, or move the file with its -wal and -shm away and sync again.",
  );

/** SHA-256 of the tables, indexes and triggers that a mirror consists of. */
export const schemaDigest = (db: Database.Database): string => digestOf(readSchemaText(db));

export const readSchemaText = (db: Database.Database): string => schemaText(readDefinitions(db));

const digestOf = (text: string): string => hash("sha256", text);

/**
 * Users may add views, and tables with indexes. An added index of a table of Armoire could hide rows from queries, or refuse new
 * ones.
 */
function schemaText(definitions: readonly Definition[]): string {
  const own = definitions.filter(({ table }) => table.startsWith("_"));
  // SQLite rewrites a statement when a column is added or removed, and keeps the spaces around it as they were.
  const texts = own.map(({ type, name, sql }) => `${type} ${name} ${sql.replace(/\s+/g, "")}`);
  return texts.sort().join("\n");
}

/** Whether a name of a view, or of one of SQLite's functions that are read like tables, means something else here. */
function hidesOwn({ type, name }: Definition): boolean {
  if (type === "table" && Object.hasOwn(views, name.toLowerCase())) return true;
  return (type === "table" || type === "view") && /^(json|pragma)_/i.test(name);
}

/**
 * Whether an added table has a foreign key to a table or view of Armoire: deleting a row of that would fail, or delete rows of
 * the added table, whose triggers could then change anything.
 */
function refersToOwn(db: Database.Database, { type, name }: Definition): boolean {
  if (type !== "table" || name.startsWith("_")) return false;
  return db
    .prepare<[string], string>('select "table" from pragma_foreign_key_list(?)')
    .pluck()
    .all(name)
    .some((target) => target.startsWith("_") || Object.hasOwn(views, target.toLowerCase()));
}

/** The public views that the file lacks or defines otherwise: name to SELECT statement. */
function outdatedViews(definitions: readonly Definition[]): [name: string, select: string][] {
  const present = new Map(definitions.map(({ name, sql }) => [name, sql]));
  return Object.entries(views).filter(([name, select]) => present.get(name) !== createView(name, select));
}

const createView = (name: string, select: string) => `CREATE VIEW ${name} as ${select}`;

/** Replaces the public views if any of them differs; they hold no data. */
export function replaceViews(db: Database.Database): void {
  if (outdatedViews(readDefinitions(db)).length === 0) return;
  db.transaction(() => {
    // The user may have added other views, which stay.
    for (const name of Object.keys(views)) db.exec(`drop view if exists ${name}`);
    for (const [name, select] of Object.entries(views)) db.exec(createView(name, select));
  })();
}

/** Shows this version's public views in place of those that differ. */
export function showCurrentViews(db: Database.Database): void {
  for (const [name, select] of outdatedViews(readDefinitions(db)))
    db.exec(`create temp view ${name} as ${select}`);
}

/** The views of the file, with the public ones of this version: the statements that show them on this connection alone. */
export function readViews(db: Database.Database): readonly string[] {
  const own = Object.entries(views).map(([name, select]) => `create temp view ${name} as ${select}`);
  const added = readDefinitions(db).filter(
    ({ type, name }) => type === "view" && !Object.hasOwn(views, name.toLowerCase()),
  );
  return [...own, ...added.map(({ sql }) => sql.replace(/^create\s+view/i, "create temp view"))];
}
