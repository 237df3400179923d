/** Brings a mirror that is open for writing to the present version: migrations once each, then the public views. */
import { Kysely, SqliteDialect } from "kysely";
import { Migrator } from "kysely/migration";
import { migrations } from "../../schema/migrations.ts";
import { views } from "../../schema/views.ts";
import type { Connection } from "./connection.ts";

export async function migrate(db: Connection): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely({ dialect: new SqliteDialect({ database: db }) }),
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: "_migration",
    migrationLockTableName: "_migration_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  renewViews(db);
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
    for (const name of present.keys()) db.exec(`drop view ${name}`);
    for (const [, sql] of wanted) db.exec(sql);
  })();
}
