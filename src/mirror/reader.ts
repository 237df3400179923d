/**
 * Opens mirrors for reading. It imports nothing that only writing needs, which keeps commands that only read fast to
 * start.
 */

import { showAddedColumns } from "./file/columns.ts";
import { type Connection, openForReading } from "./file/connection.ts";
import { showCurrentViews } from "./file/definitions.ts";
import { toMirrorError, toOpeningError } from "./file/errors.ts";
import { type MirrorIdentity, readIdentity } from "./file/meta.ts";
import { createAsOfViews } from "./past/as-of.ts";
import type { Point } from "./points/point.ts";
import { type EndedRun, resolvePoint } from "./points/resolve-point.ts";
import { requireMetaAndRuns } from "./rows/meta-and-runs.ts";

/** A mirror open for reading, in any number of processes at once, also while a sync writes. */
export interface MirrorReader {
  /** The path as given. */
  readonly file: string;
  /** The service and the area that it mirrors. */
  readonly identity: MirrorIdentity;
  /** The run whose state `db` shows; null for the current state. */
  readonly asOf: EndedRun | null;
  /** Read-only: an open connection of better-sqlite3. */
  readonly db: Connection;
  close(): void;
}

/**
 * Opens a mirror for reading. Close it afterwards.
 * @param point shows the mirror as it was at that point, under the same names; default: the current state
 * @param busyMillis how long a statement waits for a lock of another process. Default: 5000
 * @throws MirrorError `not-found`, `not-a-mirror`, `damaged`, `newer`, `unwritable`; PointError
 */
export function openMirrorReader(file: string, point?: Point, busyMillis?: number): MirrorReader {
  let db: Connection | null = null;
  try {
    const connection = openForReading(file, busyMillis);
    db = connection;
    const identity = readIdentity(db, file);
    requireMetaAndRuns(db, identity);
    const asOf = point === undefined ? null : resolvePoint(db, point);
    if (asOf === null) {
      showAddedColumns(db);
      showCurrentViews(db);
    } else createAsOfViews(db, asOf.run);
    return { file, db, identity, asOf, close: () => connection.close() };
  } catch (error) {
    db?.close();
    throw toOpeningError(error, file);
  }
}

/**
 * Opens a mirror, passes it to `use` and closes it when that returns or its promise settles.
 * @throws errors of `openMirrorReader`; MirrorError `damaged` if reading shows damage; errors of `use`
 */
export function readMirror<Result>(
  file: string,
  use: (mirror: MirrorReader) => Result,
  point?: Point,
): Result {
  const mirror = openMirrorReader(file, point);
  const fail = (error: unknown): never => {
    throw toMirrorError(error, file);
  };
  let result: Result;
  try {
    result = use(mirror);
  } catch (error) {
    mirror.close();
    return fail(error);
  }
  if (result instanceof Promise) return result.catch(fail).finally(mirror.close) as Result;
  mirror.close();
  return result;
}
