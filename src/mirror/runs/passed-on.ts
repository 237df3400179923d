/**
 * Up to which run a command has received the changes: a mark in the mirror. It is written before the first call and after
 * each successful one, so that changes of a failed call are passed on again. Backups do not hold it.
 */
import type { Connection } from "../file/connection.ts";
import { passedOnKey, readMeta, writeMeta } from "../file/meta.ts";

/** Null before the first call. */
export function readPassedOn(db: Connection): number | null {
  const run = readMeta(db, passedOnKey);
  return run === null ? null : Number(run);
}

export const writePassedOn = (db: Connection, run: number): void => writeMeta(db, passedOnKey, String(run));
