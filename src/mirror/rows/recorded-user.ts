/** Whether the recorded user of a mirror is the one of its rows: a token of the recorded one is accepted. */
import type { Connection } from "../file/connection.ts";
import { DamagedValueError } from "../file/errors.ts";
import { readMeta } from "../file/meta.ts";
import { prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";

/** The numbers of users in the rows, as text. */
export const derivedUserIds = (db: Connection): string[] =>
  prepareColumn(db, () =>
    q
      .selectFrom("_user")
      .select((eb) => eb.cast<string>("user_id", "text").as("userId"))
      .distinct()
      .where("user_id", "is not", null),
  ).all();

/** @throws DamagedValueError if a row is of another user than the recorded one */
export function requireOneUser(db: Connection): void {
  const userId = readMeta(db, "user_id");
  if (userId !== null && derivedUserIds(db).some((derived) => derived !== userId))
    throw new DamagedValueError("user_id in _meta");
}
