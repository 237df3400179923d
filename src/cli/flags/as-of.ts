/** `--as-of`, for every command that reads a mirror. */
import { Option } from "commander";
import { type Point, parsePoint, pointContext } from "../../mirror/points/point.ts";
import { countNearerPruned, describeNearerPruned } from "../../mirror/points/pruned-runs.ts";
import { type EndedRun, resolvePoint } from "../../mirror/points/resolve-point.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { readCoverage } from "../../mirror/runs/coverage.ts";
import { formatSecond } from "../../presentation/times.ts";
import { withMirror } from "../settings/mirror-file.ts";
import type { Settings } from "../settings/settings.ts";
import type { Io } from "../terminal/io.ts";

export interface AsOfFlags {
  readonly asOf?: string;
}

export const asOfOption = () =>
  new Option(
    "--as-of <point>",
    "the mirror's state at a run or a time, such as 12, 2026-11-03, latest-1 or -7d",
  );

/**
 * Resolves the flag to a run. Prints on stderr which run it is and how complete the mirror was then.
 * @returns the run as a point; undefined without the flag
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
  const { kinds } = readCoverage(mirror);
  const held = kinds.reduce((sum, kind) => sum + kind.held, 0);
  const known = kinds.reduce((sum, { due, failed }) => sum + due + failed, held);
  // Rounded down, so that 100 % means complete.
  const share = known === 0 ? 0 : Math.floor((100 * held) / known);
  const pruned = countNearerPruned(mirror.db, point, run);
  const later = pruned === 0 ? "" : `; ${describeNearerPruned(pruned)}`;
  return `As of run ${run} (${formatSecond(endedAt)}${describeTime(point, pruned > 0)}${later}): ${share} % of the known resources were held.\n`;
}

function describeTime(point: Point, isAnyPruned: boolean): string {
  if (point.kind !== "time") return "";
  const { at, text, timeZone } = point;
  const last = isAnyPruned ? "the last that is left by" : "the last run by";
  return `, ${last} ${formatSecond(at)}${timeZone === null ? "" : `: ${text}, ${timeZone} time`}`;
}

/**
 * Prints on stderr that a point stands for an earlier run than it would if none had been pruned.
 * @throws CliError, PointError, MirrorError
 */
export function warnOfPruned(point: Point, settings: Settings, io: Io): void {
  if (settings.quiet) return;
  withMirror(settings, ({ db }) => {
    const { run } = resolvePoint(db, point);
    const pruned = countNearerPruned(db, point, run);
    const given = point.kind === "time" ? JSON.stringify(point.text) : "The point";
    if (pruned > 0)
      io.err(`${given} is run ${run}, the last that is left: ${describeNearerPruned(pruned)}.\n`);
  });
}
