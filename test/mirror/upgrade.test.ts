/** A mirror that an earlier version made, which kept every body and not what rows were before. */
import Database from "better-sqlite3";
import fc from "fast-check";
import { Kysely, SqliteDialect } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { migrations } from "../../schema/migrations.ts";
import { openMirrorReader, openMirrorWriter } from "../../src/mirror/mirror.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { problemsOf, someTime, startMirrorRig, walk } from "./mirror-rig.ts";
import { publicState } from "./public-state.ts";
import { worldOfTruth } from "./world.ts";

/** The same mirror as the version before the history would have made it. */
async function copyAsOlder(file: string, older: string): Promise<void> {
  const db = new Database(older);
  db.pragma("journal_mode = WAL");
  db.pragma(`application_id = ${Buffer.from("arm1").readUInt32BE()}`);
  db.pragma("foreign_keys = OFF");
  const earlier = Object.entries(migrations).slice(0, 2);
  const loaded = earlier.map(async ([name, load]): Promise<[string, Migration]> => [name, await load()]);
  const { error } = await new Migrator({
    db: new Kysely({ dialect: new SqliteDialect({ database: db }) }),
    provider: { getMigrations: async () => Object.fromEntries(await Promise.all(loaded)) },
    migrationTableName: "_migration",
    migrationLockTableName: "_migration_lock",
  }).migrateToLatest();
  if (error !== undefined) throw error;
  db.prepare("attach ? as newer").run(file);
  const tables = db
    .prepare<[], string>(
      "select name from main.sqlite_schema where type = 'table' and name not like '\\_migration%' escape '\\'",
    )
    .pluck()
    .all();
  for (const table of tables) {
    const columns = db
      .prepare<[string], string>("select name from pragma_table_info(?, 'main')")
      .pluck()
      .all(table)
      .join(", ");
    db.exec(`insert into main.${table} (${columns}) select ${columns} from newer.${table}`);
  }
  db.close();
}

const advance = fc.record({
  changes: fc.nat(8),
  additions: fc.nat(3),
  removals: fc.nat(3),
  returns: fc.nat(2),
  moves: fc.nat(2),
});

it("shows the same past, once it was opened for writing, as one that remembered from the start", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1000),
      fc.array(advance, { minLength: 2, maxLength: 5 }),
      async (seed, history) => {
        await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14, pageSize: 2, seed });
        await using rig = await startMirrorRig(sandbox.url);
        const mirror = await rig.write();
        for (const moves of history) {
          walk(mirror, worldOfTruth(sandbox.truth({ optional: true })), { approve: true });
          sandbox.advance(moves);
        }
        const { identity } = mirror;
        mirror.close();
        const older = `${rig.folder}/older.sqlite`;
        await copyAsOlder(rig.file, older);
        expect(() => openMirrorReader(older, { kind: "run", run: 1 })).toThrow(
          expect.objectContaining({ name: "MirrorError", code: "older", file: older }),
        );

        (await openMirrorWriter({ file: older, identity, kinds, openedAt: someTime })).close();
        for (const run of history.map((_, n) => n + 1)) {
          const [kept, upgraded] = [rig.file, older].map((file) => {
            const reader = openMirrorReader(file, { kind: "run", run });
            const { coverage = [], ...state } = publicState(reader.db);
            reader.close();
            // Which pages were off their list\'s chain at a time is remembered since this version only.
            return { ...state, coverage: coverage.filter((row) => /^\["(root|brand|model|size)"/.test(row)) };
          });
          expect(upgraded).toEqual(kept);
        }
        const present = openMirrorReader(older);
        expect(problemsOf(present)).toEqual([]);
        present.close();
      },
    ),
    { numRuns: 12 },
  );
});
