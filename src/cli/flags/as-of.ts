/** `--as-of`: the same for every command that reads a mirror. */
import { Option } from "commander";
import { type Point, parsePoint, pointContext } from "../../mirror/points/point.ts";
import type { EndedRun } from "../../mirror/points/resolve-point.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { readCoverage } from "../../query/status.ts";
import { withMirror } from "../settings/mirror-file.ts";
import type { Settings } from "../settings/settings.ts";
import type { Io } from "../terminal/io.ts";

export interface AsOfFlags {
  readonly asOf?: string;
}

export const asOfOption = () =>
  new Option("--as-of <point>", "as the mirror was then: a run, a time, latest, latest-1, or -7d");

/**
 * Finds the run that the flag names, and says on stderr which it is and how much of what was known then was held.
 * @returns that run, for whoever opens the mirror next; undefined where the flag was not given
 * @throws CliError, PointError, MirrorError
 */
export function readAsOf({ asOf }: AsOfFlags, settings: Settings, io: Io): Point | undefined {
  if (asOf === undefined) return undefined;
  const point = parsePoint(asOf, pointContext());
  return withMirror(
    settings,
    (mirror) => {
      if (mirror.asOf === null) return undefined;
      if (!settings.quiet) io.err(describeAsOf(mirror, mirror.asOf, point));
      return { kind: "run", run: mirror.asOf.run };
    },
    point,
  );
}

function describeAsOf(mirror: MirrorReader, { run, endedAt }: EndedRun, point: Point): string {
  const { known, held } = readCoverage(mirror);
  // Rounded down: nothing is complete before it is.
  const share = known === 0 ? 0 : Math.floor((100 * held) / known);
  return `As of run ${run} (${endedAt}${describeTime(point)}): ${share} % of what was known then was held.\n`;
}

function describeTime(point: Point): string {
  if (point.kind !== "time") return "";
  const { at, text, timeZone } = point;
  return `, the last by ${at}${timeZone === null ? "" : `: ${text}, ${timeZone} time`}`;
}
