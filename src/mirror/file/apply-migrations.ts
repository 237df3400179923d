/** Applies the migrations that a mirror does not have yet, each once, all or none. */
import { Kysely, SqliteDialect } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { migrations } from "../../../schema/migrations.ts";
import type { Connection } from "./connection.ts";

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
