/** From a point to the run whose state it names: always one that has ended, so that what it names never changes. */
import type { Connection } from "./connection.ts";
import type { Point } from "./point.ts";
import { PointError } from "./point-error.ts";

/** A run that has ended. */
export interface EndedRun {
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly endedAt: string;
}

/**
 * The last run, by number, that had ended by then. Clocks jump, so a run may have ended before one of a lower number did.
 * @throws PointError `no-such-run`, `too-early`
 */
export function resolvePoint(db: Connection, point: Point): EndedRun {
  const found = selectRun(db, point);
  if (found !== undefined) return found;
  throw whyNot(db, point);
}

const ended = "select id as run, ended_at as endedAt from _run where ended_at is not null";

function selectRun(db: Connection, point: Point): EndedRun | undefined {
  const select = (condition: string, value: number | string) =>
    db.prepare<[number | string], EndedRun>(`${ended} and ${condition} order by id desc limit 1`).get(value);
  if (point.kind === "time") return select("ended_at <= ?", point.at);
  return point.kind === "run" ? select("id = ?", point.run) : select("id > ?", 0);
}

function whyNot(db: Connection, point: Point): PointError {
  const first = db.prepare<[], EndedRun>(`${ended} order by id limit 1`).get();
  const last = selectRun(db, { kind: "latest" });
  const hint =
    first === undefined || last === undefined
      ? "No run has ended yet: `armoire sync` makes the first point."
      : `The points there are: from run ${first.run} (${first.endedAt}) to run ${last.run} (${last.endedAt}).`;
  if (point.kind === "time") {
    const zone = point.timeZone === null ? "" : ` in ${point.timeZone}`;
    return new PointError(
      "too-early",
      `No run had ended by ${point.at} (${point.text}${zone}), so nothing is remembered of then`,
      hint,
    );
  }
  if (point.kind === "latest") return new PointError("no-such-run", "There is no run to go back to", hint);
  const isOpen = db.prepare("select 1 from _run where id = ?").get(point.run) !== undefined;
  const what = isOpen ? `Run ${point.run} has not ended` : `There is no run ${point.run}`;
  return new PointError("no-such-run", what, hint);
}

/** Null where there is no such run, or it has not ended. */
export function readEndedRun(db: Connection, run: number): EndedRun | null {
  return selectRun(db, { kind: "run", run }) ?? null;
}

/** The last run before another one that has ended; null where that was the first. */
export function runBefore(db: Connection, run: number): EndedRun | null {
  return db.prepare<[number], EndedRun>(`${ended} and id < ? order by id desc limit 1`).get(run) ?? null;
}
