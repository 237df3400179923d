/** What a token may see of its user, as the service showed when it was last asked: a null or missing link is not granted. */
import type { MirrorReader } from "../reader.ts";

export const scopeNames = ["profile", "email", "bras", "measurements"] as const;
export type ScopeName = (typeof scopeNames)[number];
export type TokenScopes = Readonly<Record<ScopeName, boolean>>;

/** What the service showed when it was asked whose data a token leads to. */
export interface ShownLinks {
  /** Whether the front page leads to her. */
  readonly me: boolean;
  readonly email: boolean;
  /** Whether she leads to it, by a link that is followed. */
  readonly isLinked: (name: "bras" | "measurements") => boolean;
}

/** The rule: what is shown is granted, and nothing of her where nothing leads to her. */
export function scopesFrom({ me, email, isLinked }: ShownLinks): TokenScopes {
  return {
    profile: me,
    email: me && email,
    bras: me && isLinked("bras"),
    measurements: me && isLinked("measurements"),
  };
}

export const listGranted = (grants: TokenScopes): ScopeName[] => scopeNames.filter((name) => grants[name]);

/** @returns null before the service said who the user is, or that it does not */
export function readTokenScopes({ db }: Pick<MirrorReader, "db">): TokenScopes | null {
  const isHeld = db
    .prepare<[string], number>("select 1 from _resource where kind = ? and state = 'held'")
    .pluck();
  const isLinked = db
    .prepare<[string, string], 0 | 1>(
      `select exists (select 1 from _link l join _resource s on s.id = l.from_id and s.state = 'held'
       where s.kind = ? and l.name = ? and l.to_id is not null)`,
    )
    .pluck();
  const me = isLinked.get("root", "me") === 1;
  if (isHeld.get(me ? "me" : "root") === undefined) return null;
  const email = db.prepare("select 1 from user where email is not null").get() !== undefined;
  return scopesFrom({ me, email, isLinked: (name) => isLinked.get("me", name) === 1 });
}

/** What is not granted any more: something of it was fetched once, and is kept. */
function listWithdrawn({ db }: Pick<MirrorReader, "db">): ScopeName[] {
  const wasRead = db
    .prepare<[string]>(
      "select 1 from _revision v join _resource r on r.id = v.resource_id where r.kind = ? limit 1",
    )
    .pluck();
  // Who takes her address out at the service looks the same as who grants it no more, so this is told once, by the run that saw it.
  const losesEmail = db
    .prepare("select 1 from _user_past where email is not null and to_run = (select max(id) from _run)")
    .pluck();
  const kinds = { profile: "me", bras: "bras", measurements: "measurements" } as const;
  return listNotGranted({ db }).filter(
    (name) => (name === "email" ? losesEmail.get() : wasRead.get(kinds[name])) !== undefined,
  );
}

/** What the service said that it does not grant; none before it said anything. */
export function listNotGranted(mirror: Pick<MirrorReader, "db">): ScopeName[] {
  const grants = readTokenScopes(mirror);
  return grants === null ? [] : scopeNames.filter((name) => !grants[name]);
}

/** What a report tells of it. */
export function readMissingScopes(mirror: Pick<MirrorReader, "db">) {
  return { notGranted: listNotGranted(mirror), withdrawn: listWithdrawn(mirror) };
}
