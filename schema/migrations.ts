/** The mirror's migrations in order, loaded on demand. The name of the last one is the version of a mirror. */
import type { Migration } from "kysely/migration";

export type Migrations = Readonly<Record<string, () => Promise<Migration>>>;

export const migrations: Migrations = {
  "0001-initial": () => import("./migrations/0001-initial.ts"),
  "0002-postponed": () => import("./migrations/0002-postponed.ts"),
  "0003-snapshots": () => import("./migrations/0003-snapshots.ts"),
};
