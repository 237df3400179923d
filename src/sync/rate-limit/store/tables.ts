/** The ledger's tables as Kysely sees them, and its migrations in order. */
import type { Migrations } from "../../../../schema/migrations.ts";
import { queryBuilder } from "../../../mirror/file/statements.ts";

export interface LedgerTables {
  /** The state of each allowance. */
  window: {
    origin: string;
    /** A digest; the ledger holds no credential. */
    credential: string;
    /** A `WindowState` as JSON. */
    state: string;
  };
  /** The runs that may hold leases. */
  session: {
    id: string;
    pid: number;
    host: string;
    /** Epoch milliseconds. */
    seen_at: number;
  };
}

/** Builds queries over a ledger's tables. */
export const ledgerQuery = queryBuilder<LedgerTables>();

/** Loaded when needed. A released migration is never edited. */
export const ledgerMigrations: Migrations = {
  "0001-initial": () => import("./migrations/0001-initial.ts"),
};
