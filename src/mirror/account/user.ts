/** Whose data an account mirror holds: recorded when the service first says so, and the same ever after. */
import type { Connection } from "../file/connection.ts";
import { readMeta, writeMeta } from "../file/meta.ts";

export interface AccountUser {
  /** The service's number of the user, as text; null where it gave none. */
  readonly userId: string | null;
  readonly username: string | null;
}

/** Of what an account says, and a service when it is asked. */
export const userOf = (said: {
  readonly userId: number | null;
  readonly username: string | null;
}): AccountUser => ({
  userId: said.userId === null ? null : String(said.userId),
  username: said.username,
});

/** The user that the mirror is of; null before it is known. */
export function readAccountUser(db: Connection): AccountUser | null {
  const userId = readMeta(db, "user_id");
  const held = db
    .prepare<[], { username: string | null }>(
      "select username from user order by gone_at is not null, href limit 1",
    )
    .get();
  const username = held?.username ?? readMeta(db, "username");
  return userId === null && username === null ? null : { userId, username };
}

/** @param meUrl where the service says who it is */
export function recordAccountUser(db: Connection, { userId, username }: AccountUser, meUrl: string): void {
  db.transaction(() => {
    if (userId !== null) writeMeta(db, "user_id", userId);
    if (username !== null) writeMeta(db, "username", username.toWellFormed());
    writeMeta(db, "me_url", meUrl);
  })();
}

/** By the number where both have one, since names can change; what says neither is nobody that is known. */
export function isSameUser(one: AccountUser, other: AccountUser): boolean {
  if (one.userId !== null && other.userId !== null) return one.userId === other.userId;
  return one.username !== null && one.username === other.username;
}

/** A user as a person is told of one. */
export function nameOfUser({ username, userId }: AccountUser): string {
  const number = userId === null ? null : `user ${userId}`;
  if (username === null) return number ?? "a user without a name";
  return number === null ? username : `${username} (${number})`;
}
