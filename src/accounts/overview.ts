/** Counts and the last sync of an account, read from its mirror's file. */
import { existsSync } from "node:fs";
import { listScopes, readTokenScopes } from "../mirror/account/token-scopes.ts";
import { prepareColumn } from "../mirror/file/statements.ts";
import { isoTime, q, queryBuilder } from "../mirror/queries/query-builder.ts";
import { type MirrorReader, readMirror } from "../mirror/reader.ts";
import { listRuns, type RunRecord } from "../mirror/runs/run-log.ts";
import type { Account } from "./account.ts";

/** An account and what its mirror holds. */
export interface AccountOverview extends Account {
  /** Null before the first sync. */
  readonly lastSync: Pick<RunRecord, "startedAt" | "endedAt" | "state" | "stopped"> | null;
  /** How many the user has, without tombstones; null without a mirror. */
  readonly bras: number | null;
  /** As `bras`. */
  readonly measurements: number | null;
}

/** Reads what an account's mirror holds, offline. @throws MirrorError if there is a mirror that cannot be read */
export function readOverview(account: Account): AccountOverview {
  if (!existsSync(account.mirrorFile)) return { ...account, lastSync: null, bras: null, measurements: null };
  return readMirror(account.mirrorFile, (mirror) => ({
    ...account,
    ...readScopes(mirror, account),
    lastSync: readLastSync(mirror),
    ...countPresent(mirror),
  }));
}

/** The scopes that the last sync saw, or those of the token if it was stored after that. */
function readScopes(
  mirror: MirrorReader,
  { scopes, unknownScopes, tokenAt }: Account,
): Pick<Account, "scopes" | "unknownScopes"> {
  const checkedAt = prepareColumn(mirror.db, () =>
    q
      .selectFrom("_resource")
      .select(isoTime<string | null>("max(checked_at)").as("at"))
      .where("kind", "in", ["root", "me"]),
  ).get();
  const lastSeen = readTokenScopes(mirror, tokenAt);
  if (lastSeen === null || (checkedAt ?? "") < tokenAt) return { scopes, unknownScopes };
  return { scopes: listScopes(lastSeen, "granted"), unknownScopes: listScopes(lastSeen, "unknown") };
}

function readLastSync(mirror: MirrorReader): AccountOverview["lastSync"] {
  const [run] = listRuns(mirror, 1);
  if (run === undefined) return null;
  const { startedAt, endedAt, state, stopped } = run;
  return { startedAt, endedAt, state, stopped };
}

function countPresent({ db }: MirrorReader): Pick<AccountOverview, "bras" | "measurements"> {
  const bras = prepareColumn(db, () => selectCount("bra"));
  const measurements = prepareColumn(db, () => selectCount("measurement"));
  return { bras: bras.get() ?? 0, measurements: measurements.get() ?? 0 };
}

const selectCount = (view: "bra" | "measurement") =>
  queryBuilder<Record<"bra" | "measurement", { gone_at: string | null }>>()
    .selectFrom(view)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("gone_at", "is", null);
