/** From a point as a person writes it to text that a column of times can be compared with. */
import type { MirrorReader } from "../../mirror/mirror-reader.ts";
import { type Point, type PointContext, parsePoint } from "../../mirror/points/point.ts";
import { PointError } from "../../mirror/points/point-error.ts";
import { resolvePoint } from "../../mirror/points/resolve-point.ts";
import { readServiceTime, toServiceTime } from "../../mirror/points/service-time.ts";

/** Whose times: our own, which are UTC, or the service's, which name no zone. */
export type TimesOf = "seen" | "reported";

/**
 * When what is named begins; a run is named by what began with it.
 * @throws PointError
 */
export function readSince(
  mirror: Pick<MirrorReader, "db" | "asOf">,
  text: string,
  times: TimesOf,
  context: PointContext,
): string {
  const point = parsePoint(text, context);
  const start = point.kind === "time" ? point.from : startOf(mirror, point);
  if (times === "seen") return start;
  return shortest(point.kind === "time" ? readServiceTime(text, context) : toServiceTime(start));
}

function startOf({ db, asOf }: Pick<MirrorReader, "db" | "asOf">, point: Point): string {
  if (point.kind === "run" && asOf !== null && point.run > asOf.run) {
    throw new PointError(
      "no-such-run",
      `Run ${point.run} is after run ${asOf.run}, as of which the mirror is shown`,
      "Give an earlier one, or a later point in time to see the mirror as of.",
    );
  }
  const { run } = resolvePoint(db, point);
  return db.prepare<[number], string>("select started_at from _run where id = ?").pluck().get(run) ?? "";
}

/** The same time with nothing behind it that says zero: as text, no other way to write it comes before this one. */
function shortest(time: string): string {
  return time.replace(/^(.*T\d\d:\d\d):00$/, "$1").replace(/T00:00$/, "");
}
