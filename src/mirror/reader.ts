/** Opening a mirror to read it. It must not know how one is written: who only reads starts sooner without that. */
import { type Connection, openForReading } from "./file/connection.ts";
import { toMirrorError, toOpeningError } from "./file/errors.ts";
import { type MirrorIdentity, readIdentity } from "./file/meta.ts";
import { createAsOfViews } from "./past/as-of.ts";
import type { Point } from "./points/point.ts";
import { type EndedRun, resolvePoint } from "./points/resolve-point.ts";

/** A mirror open for reading: any number of processes may have one, also while a sync writes. */
export interface MirrorReader {
  readonly file: string;
  readonly identity: MirrorIdentity;
  /** The run whose state everything read from `db` is of; null for the present. */
  readonly asOf: EndedRun | null;
  readonly db: Connection;
  close(): void;
}

/**
 * @param point shows the mirror as it was then, under the same names
 * @throws MirrorError `not-found`, `not-a-mirror`, `damaged`, `newer`, `unwritable`; with a point also `older`, and PointError
 */
export function openMirrorReader(file: string, point?: Point): MirrorReader {
  let db: Connection | null = null;
  try {
    const connection = openForReading(file);
    db = connection;
    const identity = readIdentity(db, file);
    const asOf = point === undefined ? null : resolvePoint(db, point);
    if (asOf !== null) createAsOfViews(db, asOf.run);
    return { file, db, identity, asOf, close: () => connection.close() };
  } catch (error) {
    db?.close();
    throw toOpeningError(error, file);
  }
}

/**
 * Has the mirror open for as long as `use` takes, also where that is a promise.
 * @throws what `openMirrorReader` throws, `damaged` also where that shows only while the file is read; what `use` throws
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
