/** Mirrors as earlier versions of the program left them. */
import Database from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";
import { Migrator } from "kysely/migration";
import { migrations } from "../../../schema/migrations.ts";
import { isoTimeOf } from "../../../schema/tables.ts";
import { views } from "../../../schema/views.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { storeAsTheyCame } from "./as-they-came.ts";

/** Makes a file with only these migrations, and with whatever its tables can take of a mirror. */
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
      `select name from main.sqlite_schema where type = 'table'
         and name not like '\\_migration%' escape '\\' and name not like '\\_search\\_index%' escape '\\'`,
    )
    .pluck();
  for (const table of tables.all()) {
    const columns = db
      .prepare<[string, string], { name: string; type: string; now: string }>(
        `select earlier.name, earlier.type, later.type as now from pragma_table_info(?, 'main') earlier
         join pragma_table_info(?, 'later') later on later.name = earlier.name`,
      )
      .all(table, table);
    // Times of rows were text.
    const values = columns.map(({ name, type, now }) =>
      type === "TEXT" && now === "INTEGER" ? isoTimeOf(name) : name,
    );
    const names = columns.map(({ name }) => name);
    db.exec(
      `insert into main.${table} (${names.join(", ")}) select ${values.join(", ")} from later.${table}`,
    );
  }
  if (!names.includes("0004-compact-bodies")) {
    const later = openMirrorReader(mirror);
    storeAsTheyCame(db, later.db);
    later.close();
  }
  db.exec(`create view brand as ${views.brand?.replaceAll(isoTimeOf("r.checked_at"), "r.checked_at")}`);
  if (names.includes("0006-search")) db.exec("insert into _search_index (_search_index) values ('rebuild')");
  db.pragma("journal_mode = wal");
  db.close();
}
