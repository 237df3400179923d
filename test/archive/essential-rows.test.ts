/** What is kept of a mirror is all that cannot be computed: a table that a later version adds is the one or the other. */
import { expect, it } from "vitest";
import { bookkeepingTables } from "../../src/mirror/bookkeeping-rows.ts";
import { versionedTables } from "../../src/mirror/rows/versioned-rows.ts";
import { startBackupRig } from "./support/backup-rig.ts";

/** Kept as entries of their own, made anew where a mirror is made, or written by a rebuild. */
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
    // What rows tell is noted for a backup, and is in no mirror.
    ...bookkeepingTables.filter((name) => name !== "reading").map((name) => `_${name}`),
    ...versionedTables.flatMap(({ name }) => [name, `${name}_past`]),
    ...others,
  ];
  expect(tables.sort()).toEqual(accounted.sort());
});
