/** Mirrors as earlier versions of the program left them. */
import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { Migrator } from "kysely/migration";
import { migrations } from "../../schema/migrations.ts";

/** Makes a file with only these migrations, and with whatever its tables can take of a mirror whose bodies are not compressed. */
export async function makeEarlierVersion(
  file: string,
  mirror: string,
  names: readonly string[],
): Promise<void> {
  const db = new Database(file);
  db.pragma(`application_id = ${Buffer.from("arm1").readUInt32BE()}`);
  const migrator = new Migrator({
    db: new Kysely({ dialect: new SqliteDialect({ database: db }) }),
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          await Promise.all(names.map(async (name) => [name, await migrations[name]?.()] as const)),
        ) as Record<string, never>,
    },
    migrationTableName: "_migration",
    migrationLockTableName: "_migration_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  db.pragma("foreign_keys = off");
  db.prepare("attach ? as later").run(mirror);
  const tables = db
    .prepare<[], string>(
      "select name from main.sqlite_schema where type = 'table' and name not like '\\_migration%' escape '\\'",
    )
    .pluck();
  for (const table of tables.all()) {
    const columns = db.prepare<[string], string>("select name from pragma_table_info(?)").pluck().all(table);
    db.exec(
      `insert into main.${table} (${columns.join(", ")}) select ${columns.join(", ")} from later.${table}`,
    );
  }
  db.pragma("journal_mode = wal");
  db.close();
}
