/** Brings a mirror that is open for writing to the present version: migrations once each, then the public views. */

import { Kysely, SqliteDialect } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { migrations } from "../../../schema/migrations.ts";
import { views } from "../../../schema/views.ts";
import type { Connection } from "./connection.ts";

export async function migrate(db: Connection): Promise<void> {
  if (hasPendingMigration(db)) {
    // Loaded only now: the migrator's library takes longer to load than an up-to-date mirror takes to open.
    const { applyMigrations } = await import("./migrate.ts");
    await applyMigrations(db);
  }
  renewViews(db);
}

function hasPendingMigration(db: Connection): boolean {
  const isNew = db.prepare("select 1 from sqlite_schema where name = '_migration'").get() === undefined;
  if (isNew) return true;
  const applied = new Set(db.prepare<[], string>("select name from _migration").pluck().all());
  return Object.keys(migrations).some((name) => !applied.has(name));
}

function renewViews(db: Connection): void {
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
    // Only views of ours: an analyst may have added some of her own.
    for (const [name] of wanted) db.exec(`drop view if exists ${name}`);
    for (const [, sql] of wanted) db.exec(sql);
  })();
}

/** Applies the migrations that a mirror does not have yet, each once, all or none. */

export async function applyMigrations(db: Connection): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely({ dialect: new SqliteDialect({ database: db }) }),
    provider: { getMigrations: loadMigrations },
    migrationTableName: "_migration",
    migrationLockTableName: "_migration_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

async function loadMigrations(): Promise<Record<string, Migration>> {
  const loaded = Object.entries(migrations).map(async ([name, load]) => [name, await load()] as const);
  return Object.fromEntries(await Promise.all(loaded));
}
