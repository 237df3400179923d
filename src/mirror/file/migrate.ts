/** Brings a SQLite file of ours to the current version: migrations once each, then the public views. */
import type { Migration } from "kysely/migration";
import { type Migrations, migrations } from "../../../schema/migrations.ts";
import { views } from "../../../schema/views.ts";
import type { Connection } from "./connection.ts";

export async function migrateMirror(db: Connection): Promise<void> {
  await migrate(db, migrations);
  replaceViews(db);
}

/**
 * Applies the migrations that the file lacks, in order. All of them, and the log of them, are one transaction: after a
 * kill the file has either none or all.
 */
export async function migrate(db: Connection, known: Migrations): Promise<void> {
  if (isUpToDate(db, known)) return;
  // Loaded only now: the libraries take longer to load than an up-to-date file takes to open.
  const [{ Kysely, SqliteDialect }, { Migrator }] = await Promise.all([
    import("kysely"),
    import("kysely/migration"),
  ]);
  const migrator = new Migrator({
    db: new Kysely({ dialect: new SqliteDialect({ database: db }) }),
    provider: { getMigrations: () => loadAll(known) },
    migrationTableName: "_migration",
    migrationLockTableName: "_migration_lock",
    // Kysely runs no transaction around SQLite's migrations, whatever this says: ours is the only one.
    disableTransactions: true,
  });
  db.exec("begin immediate");
  try {
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    db.exec("commit");
  } finally {
    if (db.inTransaction) db.exec("rollback");
  }
}

function isUpToDate(db: Connection, known: Migrations): boolean {
  const isNew = db.prepare("select 1 from sqlite_schema where name = '_migration'").get() === undefined;
  if (isNew) return false;
  const applied = new Set(db.prepare<[], string>("select name from _migration").pluck().all());
  return Object.keys(known).every((name) => applied.has(name));
}

async function loadAll(known: Migrations): Promise<Record<string, Migration>> {
  const loaded = Object.entries(known).map(async ([name, load]) => [name, await load()] as const);
  return Object.fromEntries(await Promise.all(loaded));
}

/** Views hold no data, so they are replaced wherever their text differs. */
function replaceViews(db: Connection): void {
  const present = new Map(
    db
      .prepare<[], { name: string; sql: string }>("select name, sql from sqlite_schema where type = 'view'")
      .all()
      .map(({ name, sql }) => [name, sql]),
  );
  const wanted = Object.entries(views).map(
    ([name, select]) => [name, `CREATE VIEW ${name} as ${select}`] as const,
  );
  if (wanted.every(([name, sql]) => present.get(name) === sql)) return;
  db.transaction(() => {
    // Only ours: an analyst may have added others.
    for (const [name] of wanted) db.exec(`drop view if exists ${name}`);
    for (const [, sql] of wanted) db.exec(sql);
  })();
}
