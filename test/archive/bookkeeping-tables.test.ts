/** A backup holds every table that a rebuild cannot compute. A new table must be one or the other. */
import { expect, it } from "vitest";
import { bookkeepingTables } from "../../src/mirror/bookkeeping/rows.ts";
import { versionedTables } from "../../src/mirror/rows/versioned-rows.ts";
import { startBackupRig } from "./support/backup-rig.ts";

/** Tables with entries of their own, and tables that creating or rebuilding a mirror writes. */
const others = ["_content", "_dictionary", "_migration", "_migration_lock", "_search"];

it("every table of a mirror is either in the backup or computed from it", async () => {
  await using rig = await startBackupRig();
  const tables = rig.mirror.db
    .prepare<[], string>(
      "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'",
    )
    .pluck()
    .all();
  const accounted = [
    // `reading` is computed for backups and is not a table of the mirror.
    ...bookkeepingTables.filter((name) => name !== "first_derivation").map((name) => `_${name}`),
    ...versionedTables.flatMap(({ name }) => [name, `${name}_past`]),
    ...others,
  ];
  expect(tables.sort()).toEqual(accounted.sort());
});
