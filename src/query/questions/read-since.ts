/** Turns a point in time, as the user writes it, into text that compares with a column of times. */
import { type Point, type PointContext, PointError, parsePoint } from "../../mirror/points/point.ts";
import { countPruned } from "../../mirror/points/pruned-runs.ts";
import { listPoints, resolvePoint } from "../../mirror/points/resolve-point.ts";
import { readServiceTime } from "../../mirror/points/service-time.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { utcSecond } from "../../presentation/times.ts";

/** `seen`: times of the mirror, in UTC. `reported`: times of the service, without a zone. */
export type TimesOf = "seen" | "reported";

/**
 * The beginning of the given day, month or time; for a run, its end, as the point of that run means everywhere. The
 * service's times cannot be compared with a run.
 * @throws PointError
 */
export function readSince(
  mirror: Pick<MirrorReader, "db" | "asOf">,
  text: string,
  times: TimesOf,
  context: PointContext,
): string {
  const point = parsePoint(text, context);
  if (times === "reported") return withoutZeros(readServiceTime(text, context));
  return point.kind === "time" ? point.from : endOfRun(mirror, point);
}

/**
 * Says why nothing may be known since then, in one sentence or two.
 * @param text as given @param since as `readSince` returns it
 */
export function describeNothingSince({ db }: Pick<MirrorReader, "db">, text: string, since: string): string {
  const runs = listPoints(db);
  const [first, last] = [runs[0], runs.at(-1)];
  const nothing = `Nothing since ${JSON.stringify(text)} (${utcSecond(since)}).`;
  if (first === undefined || last === undefined) return `${nothing} No run has ended yet.`;
  if (last.endedAt <= since) return `${nothing} The latest run, run ${last.run}, had ended by then.`;
  if (since < first.endedAt && countPruned(db, { after: 0, before: first.run }) > 0)
    return `${nothing} Run ${first.run}, which ended at ${utcSecond(first.endedAt)}, is the first that is left: earlier ones were pruned.`;
  if (since < first.endedAt)
    return `${nothing} The first run, run ${first.run}, ended at ${utcSecond(first.endedAt)}: nothing was known before.`;
  return nothing;
}

function endOfRun({ db, asOf }: Pick<MirrorReader, "db" | "asOf">, point: Point): string {
  if (point.kind === "run" && asOf !== null && point.run > asOf.run) {
    throw new PointError(
      "no-such-run",
      `Run ${point.run} is later than run ${asOf.run}, which --as-of selects.`,
      "Use an earlier run here, or a later point for --as-of.",
    );
  }
  return resolvePoint(db, point).endedAt;
}

/** The shortest text for the time, which no other text for the same time precedes. */
function withoutZeros(time: string): string {
  return time.replace(/^(.*T\d\d:\d\d):00$/, "$1").replace(/T00:00$/, "");
}
