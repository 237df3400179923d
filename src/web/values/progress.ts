/** How far a running sync is: counts over all resources, and what its ledger still grants. */
import { prepareColumn } from "../../mirror/file/statements.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { countStates } from "../../mirror/runs/runs.ts";
import { readLatest } from "../../sync/rate-limit/known-allowance.ts";

export interface Progress {
  /** Resources that the run has checked or fetched. */
  readonly done: number;
  /** Resources that are known and were never fetched. */
  readonly toFetch: number;
  /** Requests that the allowance still grants; null if unknown. */
  readonly allowanceLeft: number | null;
}

/** @param now epoch milliseconds */
export function readProgress(
  { db, identity }: MirrorReader,
  run: number,
  ledgerFile: string,
  now: number,
): Progress {
  const countDone = prepareColumn(db, (p: { run: number }) =>
    q
      .selectFrom("_resource")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("last_checked_run", "=", p.run),
  );
  const allowance = readLatest(ledgerFile, new URL(identity.baseUrl).origin, now);
  return {
    done: countDone.get({ run }) ?? 0,
    toFetch: countStates(db).due,
    allowanceLeft: allowance?.remaining ?? null,
  };
}
