/**
 * Which line of mirrors a file belongs to: a random mark, made once and restored with everything else, so that two mirrors of
 * one user, each made from nothing, are told apart although their runs have the same numbers.
 */
import { randomBytes } from "node:crypto";
import type { Connection } from "./connection.ts";
import { readMeta, writeMeta } from "./meta.ts";

/** Null in a mirror that no version with lineages has opened for writing yet. */
export const readLineage = (db: Connection): string | null => readMeta(db, "lineage");

/** Begins a line where the mirror is of none. */
export function ensureLineage(db: Connection): void {
  if (readLineage(db) === null) writeMeta(db, "lineage", randomBytes(16).toString("hex"));
}
