/**
 * Which data of its user a token grants access to. For data that is not granted, the service shows a null link or none, or
 * refuses the list behind the link. A link alone does not show that its list is granted.
 */
import { sql } from "kysely";
import { readRefusedAt, type ScopeList } from "../absence/refused-scopes.ts";
import { prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import { publicViews } from "./user.ts";

export const scopeNames = ["profile", "email", "bras", "measurements"] as const;
export type ScopeName = (typeof scopeNames)[number];

/** The scopes that a token was shown to lack. */
export function listMissingScopes(token: {
  readonly scopes: readonly ScopeName[];
  readonly unknownScopes: readonly ScopeName[];
}): ScopeName[] {
  return scopeNames.filter((name) => !token.scopes.includes(name) && !token.unknownScopes.includes(name));
}
export type ScopeState = "granted" | "not-granted" | "unknown";
export type TokenScopes = Readonly<Record<ScopeName, ScopeState>>;

/** The links and fields that the service shows for a token. */
export interface ShownLinks {
  /** Whether the root links to the user. */
  readonly me: boolean;
  readonly email: boolean;
  /** What is known of the list behind the user's link of this name. */
  readonly stateOf: (list: ScopeList) => ScopeState;
}

/** Without the user, nothing is granted. */
export function scopesFrom({ me, email, stateOf }: ShownLinks): TokenScopes {
  return {
    profile: me ? "granted" : "not-granted",
    email: me && email ? "granted" : "not-granted",
    bras: me ? stateOf("bras") : "not-granted",
    measurements: me ? stateOf("measurements") : "not-granted",
  };
}

export function listScopes(scopes: TokenScopes, state: ScopeState): ScopeName[] {
  return scopeNames.filter((name) => scopes[name] === state);
}

/**
 * @param since ISO 8601: lists last fetched before that are unknown; default: never
 * @returns the scopes by the last responses; null before the first one
 */
export function readTokenScopes(
  { db }: Pick<MirrorReader, "db">,
  since: string | null = null,
): TokenScopes | null {
  const selectHeld = prepareColumn(db, (p: { kind: string }) =>
    q.selectFrom("_resource").select("id").where("kind", "=", p.kind).where("state", "=", "held"),
  );
  const selectLink = prepareColumn(db, (p: { kind: string; name: string }) =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as s", "s.id", "l.from_id")
      .select("l.to_id")
      .where("s.state", "=", "held")
      .where("s.kind", "=", p.kind)
      .where("l.name", "=", p.name)
      .where("l.to_id", "is not", null),
  );
  const hasLink = (kind: string, name: string) => selectLink.get({ kind, name }) !== undefined;
  const me = hasLink("root", "me");
  if (selectHeld.get({ kind: me ? "me" : "root" }) === undefined) return null;
  const selectEmail = prepareColumn(db, () =>
    publicViews().selectFrom("user").select("email").where("email", "is not", null),
  );
  const selectAnswered = prepareColumn(db, (p: { kind: string; since: number }) =>
    q
      .selectFrom("_resource")
      .select("id")
      .where("kind", "=", p.kind)
      .where("state", "=", "held")
      .where("checked_at", ">=", p.since),
  );
  const sinceMillis = since === null ? 0 : Date.parse(since);
  const stateOf = (list: ScopeList): ScopeState => {
    if (!hasLink("me", list) || readRefusedAt(db, list) !== null) return "not-granted";
    return selectAnswered.get({ kind: list, since: sinceMillis }) === undefined ? "unknown" : "granted";
  };
  return scopesFrom({ me, email: selectEmail.get() !== undefined, stateOf });
}

/** Scopes that are not granted, and those among them that once were. */
export function readMissingScopes(mirror: Pick<MirrorReader, "db">) {
  const notGranted = listNotGranted(mirror);
  return { notGranted, withdrawn: listWithdrawn(mirror, notGranted) };
}

/** Empty before the first response. */
export function listNotGranted(mirror: Pick<MirrorReader, "db">): ScopeName[] {
  const scopes = readTokenScopes(mirror);
  return scopes === null ? [] : listScopes(scopes, "not-granted");
}

/** Scopes whose data was fetched before; the mirror keeps that. */
function listWithdrawn({ db }: Pick<MirrorReader, "db">, notGranted: readonly ScopeName[]): ScopeName[] {
  const selectRevision = prepareColumn(db, (p: { kind: string }) =>
    q
      .selectFrom("_revision as v")
      .innerJoin("_resource as r", "r.id", "v.resource_id")
      .select("v.seq")
      .where("r.kind", "=", p.kind)
      .limit(1),
  );
  // A user who removes their address looks the same as one who withdraws the scope: only the run that sees it reports
  // it.
  const selectLostEmail = prepareColumn(db, () =>
    q
      .selectFrom("_user_past")
      .select(sql<1>`1`.as("found"))
      .where("email", "is not", null)
      .where("to_run", "=", (eb) => eb.selectFrom("_run").select((run) => run.fn.max("id").as("id"))),
  );
  const kinds = { profile: "me", bras: "bras", measurements: "measurements" } as const;
  return notGranted.filter(
    (name) =>
      (name === "email" ? selectLostEmail.get() : selectRevision.get({ kind: kinds[name] })) !== undefined,
  );
}
