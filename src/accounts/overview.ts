/** What an account has, read from its mirror's file without asking anybody; well also before its first sync. */
import { existsSync } from "node:fs";
import { isoTimeOf } from "../../schema/tables.ts";
import { listGranted, readTokenScopes, type ScopeName } from "../mirror/account/token-scopes.ts";
import { type MirrorReader, readMirror } from "../mirror/reader.ts";
import { listRuns, type RunRecord } from "../mirror/runs/runs.ts";
import type { Account } from "./account.ts";

export interface AccountOverview extends Account {
  /** Null where none was begun. */
  readonly lastSync: Pick<RunRecord, "startedAt" | "endedAt" | "state" | "stopped"> | null;
  /** Those that the service has still; null without a mirror. */
  readonly bras: number | null;
  readonly measurements: number | null;
}

/** @throws MirrorError where there is a mirror that cannot be read */
export function readOverview(account: Account): AccountOverview {
  if (!existsSync(account.mirrorFile)) return { ...account, lastSync: null, bras: null, measurements: null };
  return readMirror(account.mirrorFile, (mirror) => {
    const [lastSync = null] = listRuns(mirror, 1).map(({ startedAt, endedAt, state, stopped }) => ({
      startedAt,
      endedAt,
      state,
      stopped,
    }));
    return {
      ...account,
      scopes: readScopes(mirror, account),
      lastSync,
      bras: countPresent(mirror, "bra"),
      measurements: countPresent(mirror, "measurement"),
    };
  });
}

/** As last seen: by a sync, unless the token was given after that. */
function readScopes(mirror: MirrorReader, { scopes, tokenAt }: Account): readonly ScopeName[] {
  const checkedAt = mirror.db
    .prepare<[], string | null>(
      `select ${isoTimeOf("max(checked_at)")} from _resource where kind in ('root', 'me')`,
    )
    .pluck()
    .get();
  const grants = readTokenScopes(mirror);
  if (grants === null || (checkedAt ?? "") < tokenAt) return scopes;
  return listGranted(grants);
}

function countPresent({ db }: MirrorReader, table: "bra" | "measurement"): number {
  return db.prepare<[], number>(`select count(*) from ${table} where gone_at is null`).pluck().get() ?? 0;
}
