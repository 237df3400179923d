/** The migrations of the ledger, in order. They are apart from its queries, which need Kysely. */
import type { Migrations } from "../../../../schema/migrations.ts";

/** Loaded when needed. A released migration is never edited. */
export const ledgerMigrations: Migrations = {
  "0001-initial": () => import("./migrations/0001-initial.ts"),
};
