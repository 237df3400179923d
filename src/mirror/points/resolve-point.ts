/** From a point to the run whose state it names: always one that has ended and is kept, so that what it names never changes. */
import type { Connection } from "../file/connection.ts";
import { type Point, PointError } from "./point.ts";

/** A run that has ended. */
export interface EndedRun {
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly endedAt: string;
}

/** The runs that can be shown, the first one first. */
export function listPoints(db: Connection): EndedRun[] {
  return db.prepare<[], EndedRun>(`${points(db)} order by id`).all();
}

/**
 * The last run, by number, that is kept and had ended by then. Clocks jump, so a run may have ended before one of a lower number did.
 * @throws PointError `no-such-run`, `forgotten`, `too-early`
 */
export function resolvePoint(db: Connection, point: Point): EndedRun {
  const found = selectRun(db, point);
  if (found !== undefined) return found;
  throw whyNot(db, point);
}

const points = (db: Connection) =>
  `select id as run, ended_at as endedAt from _run where ended_at is not null and ${isKept(db)}`;

function selectRun(db: Connection, point: Point): EndedRun | undefined {
  const select = (condition: string, value: number | string, back = 0) =>
    db
      .prepare<[number | string, number], EndedRun>(
        `${points(db)} and ${condition} order by id desc limit 1 offset ?`,
      )
      .get(value, back);
  if (point.kind === "time") return select("ended_at <= ?", point.at);
  return point.kind === "run" ? select("id = ?", point.run) : select("id > ?", 0, point.back);
}

function whyNot(db: Connection, point: Point): PointError {
  const kept = listPoints(db);
  const [first, last] = [kept[0], kept.at(-1)];
  const hint =
    first === undefined || last === undefined
      ? "No run has ended yet: `armoire sync` makes the first point."
      : `The points there are: from run ${first.run} (${first.endedAt}) to run ${last.run} (${last.endedAt}).`;
  if (point.kind === "time") {
    const zone = point.timeZone === null ? "" : ` in ${point.timeZone}`;
    return new PointError(
      "too-early",
      `No run ${hasForgotten(db) ? "that is kept " : ""}had ended by ${point.at} (${point.text}${zone}), so nothing is remembered of then`,
      hint,
    );
  }
  if (point.kind === "latest") {
    const what =
      last === undefined
        ? "There is no run to go back to"
        : `No run is ${point.back} before the latest, which is run ${last.run}`;
    return new PointError("no-such-run", what, hint);
  }
  const found = db
    .prepare<[number], { hasEnded: number }>("select ended_at is not null as hasEnded from _run where id = ?")
    .get(point.run);
  if (found?.hasEnded) {
    const neighbours = [
      kept.findLast(({ run }) => run < point.run),
      kept.find(({ run }) => run > point.run),
    ].flatMap((near) => (near === undefined ? [] : [`run ${near.run} (${near.endedAt})`]));
    const nearest = `The nearest that can be shown: ${neighbours.join(" and ")}.`;
    return new PointError("forgotten", `Run ${point.run} is forgotten`, nearest);
  }
  const what = found !== undefined ? `Run ${point.run} has not ended` : `There is no run ${point.run}`;
  return new PointError("no-such-run", what, hint);
}

/** Null where there is no such run, or it has not ended. */
export function readEndedRun(db: Connection, run: number): EndedRun | null {
  return selectRun(db, { kind: "run", run }) ?? null;
}

/** The last run before another one that has ended and is kept; null where that was the first. */
export function runBefore(db: Connection, run: number): EndedRun | null {
  return db.prepare<[number], EndedRun>(`${points(db)} and id < ? order by id desc limit 1`).get(run) ?? null;
}

function hasForgotten(db: Connection): boolean {
  return db.prepare(`select 1 from _run where not (${isKept(db)})`).get() !== undefined;
}

/** Which runs can still be shown. */

/** SQL over `_run` that is true for what is not forgotten; in a mirror of an earlier version that is everything. */
export function isKept(db: Connection): string {
  const canForget = db.prepare("select 1 from pragma_table_info('_run') where name = 'forgotten_at'").get();
  return canForget === undefined ? "true" : "forgotten_at is null";
}
