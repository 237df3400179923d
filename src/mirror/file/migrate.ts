/** Brings a mirror's file to the current version: applies missing migrations, then updates the public views. */
import { Kysely, SqliteDialect } from "kysely";
import type { Migration } from "kysely/migration";
import { type Migrations, migrations } from "../../../schema/migrations.ts";
import type { Connection } from "./connection.ts";
import { replaceViews } from "./definitions.ts";

export async function migrateMirror(db: Connection): Promise<void> {
  await migrate(db, migrations);
  replaceViews(db);
}

/** Applies all missing migrations in one transaction: a killed process leaves either none or all of them. */
export async function migrate(db: Connection, known: Migrations): Promise<void> {
  if (isUpToDate(db, known)) return;
  // Imported here, since loading it takes longer than opening an up-to-date file.
  const { Migrator } = await import("kysely/migration");
  const migrator = new Migrator({
    db: new Kysely({ dialect: new SqliteDialect({ database: db }) }),
    provider: { getMigrations: () => loadAll(known) },
    migrationTableName: "_migration",
    migrationLockTableName: "_migration_lock",
    // Kysely never uses a transaction for migrations of SQLite; the one below is the only one.
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

/** Raw: these tables are of SQLite and of Kysely. */
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
