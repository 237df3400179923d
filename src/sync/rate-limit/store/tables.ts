/** The ledger's tables as Kysely sees them. */
import { queryBuilder } from "../../../mirror/queries/query-builder.ts";

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
