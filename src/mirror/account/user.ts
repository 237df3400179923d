/**
 * The user whose data an account mirror holds: recorded when the service first identifies them, and never changed.
 */
import { limits } from "../../../schema/input/limits.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { prepare } from "../file/statements.ts";
import { queryBuilder } from "../queries/query-builder.ts";
import { fromStored } from "../rows/cells.ts";
import { requireOneUser } from "../rows/recorded-user.ts";

export interface AccountUser {
  /** The service's number of the user, as text; null if unknown. */
  readonly userId: string | null;
  /** The user's name at the service; null if unknown. */
  readonly username: string | null;
}

/** Columns of the public view `user`. */
export const publicViews = () =>
  queryBuilder<{
    user: {
      href: string;
      user_id: number | null;
      username: string | null;
      email: string | null;
      gone_at: string | null;
    };
  }>();

/** A user's name or number as the service sent it; null if it is too long to be one. */
export function identifyingText(text: string): string | null {
  return text.length <= limits.userNameLength ? text : null;
}

/** From the service's fields. */
export function userOf(fields: {
  readonly userId: number | null;
  readonly username: string | null;
}): AccountUser {
  return { userId: fields.userId === null ? null : String(fields.userId), username: fields.username };
}

/**
 * @returns null before the service has identified the user
 * @throws DamagedValueError if the rows are of another user: a token of the recorded one would be accepted
 */
export function readAccountUser(db: Connection): AccountUser | null {
  requireOneUser(db);
  const userId = readMeta(db, "user_id");
  const current = prepare(db, () =>
    publicViews()
      .selectFrom("user")
      .select("username")
      .orderBy((eb) => eb("gone_at", "is not", null))
      .orderBy("href")
      .limit(1),
  ).get();
  const name = fromStored(current?.username ?? null);
  const username = (typeof name === "string" ? identifyingText(name) : null) ?? readMeta(db, "username");
  return userId === null && username === null ? null : { userId, username };
}

/** @param meUrl the URL behind the root's `me` link */
export function recordAccountUser(db: Connection, { userId, username }: AccountUser, meUrl: string): void {
  db.transaction(() => {
    if (userId !== null) writeMeta(db, "user_id", userId);
    if (username !== null) writeMeta(db, "username", username.toWellFormed());
    writeMeta(db, "me_url", meUrl);
  })();
}

/** Compares numbers if both are known, since user names can change. Two unknown users are not the same. */
export function isSameUser(a: AccountUser, b: AccountUser): boolean {
  if (a.userId !== null && b.userId !== null) return a.userId === b.userId;
  return a.username !== null && a.username === b.username;
}

/** As the service sends it: a number, or text where a number would lose digits. */
export function userNumber({ userId }: AccountUser): number | string | null {
  return userId !== null && String(Number(userId)) === userId && Number.isSafeInteger(Number(userId))
    ? Number(userId)
    : userId;
}

/** For messages, such as "ada (user 7)". */
export function nameOfUser({
  username,
  userId,
}: {
  readonly username: string | null;
  readonly userId: number | string | null;
}): string {
  const number = userId === null ? null : `user ${userId}`;
  if (username === null) return number ?? "a user without a name";
  return number === null ? username : `${username} (${number})`;
}
