/** What an account has, read from its mirror's file without asking anybody; well also before its first sync. */
import { existsSync } from "node:fs";
import { type MirrorReader, openMirrorReader } from "../mirror/mirror.ts";
import { listRuns, type RunRecord } from "../mirror/runs.ts";
import type { Account, AccountScope } from "./account.ts";

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
  const mirror = openMirrorReader(account.mirrorFile);
  try {
    const [lastSync = null] = listRuns(mirror, 1).map(({ startedAt, endedAt, state, stopped }) => ({
      ...{ startedAt, endedAt, state, stopped },
    }));
    return {
      ...account,
      scopes: readScopes(mirror, account),
      lastSync,
      bras: countPresent(mirror, "bra"),
      measurements: countPresent(mirror, "measurement"),
    };
  } finally {
    mirror.close();
  }
}

/** As last seen: by a sync, unless the token was given after that. */
function readScopes({ db }: MirrorReader, { scopes, tokenAt }: Account): readonly AccountScope[] {
  const user = db
    .prepare<[], { hasEmail: 0 | 1; checkedAt: string | null }>(
      "select email is not null as hasEmail, checked_at as checkedAt from user",
    )
    .get();
  if (user === undefined || (user.checkedAt ?? "") < tokenAt) return scopes;
  const links = db
    .prepare<[], string>(
      "select l.name from _link l join _resource r on r.id = l.from_id where r.kind = 'me' and l.to_id is not null",
    )
    .pluck()
    .all();
  const linked = (["bras", "measurements"] as const).filter((name) => links.includes(name));
  return ["profile", ...(user.hasEmail ? (["email"] as const) : []), ...linked];
}

function countPresent({ db }: MirrorReader, table: "bra" | "measurement"): number {
  return db.prepare<[], number>(`select count(*) from ${table} where gone_at is null`).pluck().get() ?? 0;
}
