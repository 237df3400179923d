/** From two points to the changes between them. Two runs of one mirror are compared on one connection. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Point, type PointContext, type PointOrPath, pointContext } from "../mirror/points/point.ts";
import { comparedRun, resolvePoint } from "../mirror/points/resolve-point.ts";
import { readServiceTime } from "../mirror/points/service-time.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import type { Coverage } from "../mirror/runs/coverage.ts";
import type { Change, Reported } from "./change.ts";
import { type ComparedKind, type ComparedKinds, compareKinds } from "./compared-kinds.ts";
import { compareStates, diff, reportedSince } from "./diff.ts";
import { ChangeError } from "./errors.ts";
import { type ChangeFilter, type FilterInput, isOfKind, parseFilter } from "./filter.ts";
import { createLabelFinder, type Keyed, withLabels } from "./keys.ts";
import { compareRuns, runBeforeLastChange } from "./run-comparison.ts";
import {
  coverageAt,
  type DiffSource,
  type MirrorLocation,
  namedIn,
  type OpenSource,
  openFolderSource,
  openMirrorSource,
  openSnapshot,
} from "./sources.ts";

export interface DiffRequest extends FilterInput {
  /** The mirror of points that are no path. Not needed if both are files or folders. */
  readonly mirror?: string;
  /**
   * Default: the run before the last one, up to `to`, that changed anything. `"previous"`: the run before `to`; the empty
   * mirror if `to` is the first run; `to` itself if all runs before it are pruned.
   */
  readonly from?: PointOrPath | "previous";
  /** Default: the latest run. */
  readonly to?: PointOrPath;
}

/** Changes, read while they are iterated, once. Close it afterwards. */
export interface OpenDiff<Found> {
  /** Null for reported changes: they compare nothing. */
  readonly from: DiffSource | null;
  readonly to: DiffSource;
  /** Of reported changes: the earliest time, as the service writes times. Null for observed changes. */
  readonly since: string | null;
  /** Tables, and fields as `table.field`, that only one side has; they are not compared. */
  readonly notCompared: readonly string[];
  /** Of the kinds that may have changes. What the earlier state lacked counts as added. */
  readonly coverage: { readonly from: Coverage | null; readonly to: Coverage | null };
  /** Read while they are iterated, ordered by kind and key. */
  readonly changes: Iterable<Found>;
  /** Of reported changes: resources without a valid `last_modified_at`, which may have changed; known after the iteration. */
  readonly withoutTime: number;
  close(): void;
}

/** An export's folder, or a point of a mirror. */
type Place = { readonly folder: string } | { readonly file: string; readonly point: Point };

/** How to find the earlier run of a mirror; see `DiffRequest`. */
export type FromRun = Point | "before-last-change" | "previous";

const latest: Point = { kind: "latest", back: 0 };

/**
 * The observed changes between two points.
 * @throws ChangeError, PointError, MirrorError, ExportError
 */
export async function openDiff(request: DiffRequest): Promise<OpenDiff<Keyed<Change>>> {
  const to = placeOf(request.to ?? latest, request.mirror);
  if (request.from === undefined || request.from === "previous") {
    const from = request.from === undefined ? "before-last-change" : "previous";
    return openRunDiff(requireMirror(to), from, request);
  }
  const from = placeOf(request.from, request.mirror);
  if ("file" in from && "file" in to && from.file === to.file) return openRunDiff(to, from.point, request);
  return openSourceDiff(from, to, request);
}

/**
 * The observed changes between two points of one mirror. Both are resolved and compared on one connection, in one read
 * transaction.
 * @throws ChangeError, PointError, MirrorError
 */
export function openRunDiff(
  { file, point }: { readonly file: string; readonly point: Point },
  from: FromRun,
  input: FilterInput,
): OpenDiff<Keyed<Change>> {
  return openSnapshot(file, (mirror) => {
    const after = { mirror: file, ...resolvePoint(mirror.db, point) };
    const before = { mirror: file, ...resolveFrom(mirror, from, after) };
    const comparison = compareRuns(mirror, { before: before.run, after: after.run });
    const filter = parseFilter(input, comparison.kinds, namedIn(mirror));
    const { baseUrl } = mirror.identity;
    return {
      from: { place: before, baseUrl },
      to: { place: after, baseUrl },
      since: null,
      notCompared: comparison.notCompared,
      coverage: {
        from: coverageAt(mirror, before, kindNames(comparison, filter)),
        to: coverageAt(mirror, after, kindNames(comparison, filter)),
      },
      changes: withLabels(diff(comparison, filter), createLabelFinder(mirror.db, after.run)),
      withoutTime: 0,
      close: mirror.close,
    };
  });
}

function resolveFrom(
  mirror: MirrorReader,
  from: FromRun,
  to: MirrorLocation,
): Omit<MirrorLocation, "mirror"> {
  if (from === "previous") return comparedRun(mirror.db, to);
  if (from !== "before-last-change") return resolvePoint(mirror.db, from);
  const before = runBeforeLastChange(mirror, to.run);
  if (before !== null) return before;
  throw new ChangeError(
    "no-such-run",
    `Run ${to.run} is the first of ${to.mirror}: there is no earlier run to compare with.`,
    "Give --from a mirror's file or an export's folder, or sync again.",
  );
}

async function openSourceDiff(from: Place, to: Place, input: FilterInput): Promise<OpenDiff<Keyed<Change>>> {
  const opened: OpenSource[] = [];
  const close = () => {
    for (const source of opened) source.close();
  };
  try {
    const b = await openSource(to);
    opened.push(b);
    const a = await openSource(from);
    opened.push(a);
    requireOneService(a, b);
    const comparison = compareStates(a, b);
    const filter = parseFilter(input, comparison.kinds, {
      brands: () => [...a.brands(), ...b.brands()],
      models: () => [...a.models(), ...b.models()],
    });
    const { notCompared } = comparison;
    return {
      from: a,
      to: b,
      since: null,
      notCompared,
      coverage: {
        from: a.coverage(kindNames(comparison, filter)),
        to: b.coverage(kindNames(comparison, filter)),
      },
      changes: withLabels(
        diff(comparison, filter),
        (href, kind) => b.findLabels(href, kind) ?? a.findLabels(href, kind),
      ),
      withoutTime: 0,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * The changes that the service reports at a time or later, in the state at `to`.
 * @param request `from`, `fields` and `ignored` are not used
 * @param since a time as the service writes it, of any precision, or a point in time that is no run
 * @param context default: the present
 * @throws ChangeError, PointError, MirrorError, ExportError
 */
export async function openReported(
  request: DiffRequest,
  since: string,
  context: PointContext = pointContext(),
): Promise<OpenDiff<Keyed<Reported>>> {
  const time = readServiceTime(since, context);
  const to = await openSource(placeOf(request.to ?? latest, request.mirror));
  try {
    const { kinds } = compareKinds(to.tables, to.tables);
    if (!kinds.some(({ fields }) => fields.includes("last_modified_at"))) throw noTimes(kinds);
    const filter = parseFilter({ ...request, fields: [], ignored: [] }, kinds, to);
    const withoutTime = { count: 0 };
    return {
      from: null,
      to,
      since: time,
      notCompared: [],
      coverage: { from: null, to: to.coverage(kindNames({ kinds }, filter)) },
      changes: withLabels(reportedSince(to.tables, kinds, time, filter, withoutTime), to.findLabels),
      get withoutTime() {
        return withoutTime.count;
      },
      close: to.close,
    };
  } catch (error) {
    to.close();
    throw error;
  }
}

const kindNames = ({ kinds }: Pick<ComparedKinds, "kinds">, filter: ChangeFilter): string[] =>
  kinds.filter((kind) => isOfKind(filter, kind)).map(({ name }) => name);

function noTimes(kinds: readonly ComparedKind[]): ChangeError {
  return new ChangeError(
    "not-comparable",
    `The service reports no times for ${kinds.map(({ name }) => name).join(", ")}.`,
    "Without --since, `armoire diff --from -7d` lists the changes that the mirror observed.",
  );
}

function placeOf(point: PointOrPath, mirror: string | undefined): Place {
  if ("path" in point) {
    refuseBackup(point.path, point.kind === "export");
    return point.kind === "export" ? { folder: point.path } : { file: point.path, point: latest };
  }
  if (mirror !== undefined) return { file: mirror, point };
  throw new ChangeError(
    "bad-point",
    "A run or a time needs a mirror, and none is given.",
    "Give a mirror's file.",
  );
}

function requireMirror(to: Place): Extract<Place, { file: string }> {
  if ("file" in to) return to;
  throw new ChangeError(
    "bad-point",
    `There is nothing to compare ${to.folder} with.`,
    "Give --from as well: a run, a time, a mirror's file or an export's folder.",
  );
}

async function openSource(place: Place): Promise<OpenSource> {
  return "folder" in place ? openFolderSource(place.folder) : openMirrorSource(place.file, place.point);
}

/** A resource is its URL, so two services have no resource in common. */
function requireOneService(a: DiffSource, b: DiffSource): void {
  if (a.baseUrl === null || b.baseUrl === null || a.baseUrl === b.baseUrl) return;
  throw new ChangeError(
    "two-services",
    `The two are of different services, ${a.baseUrl} and ${b.baseUrl}, and have no resource in common.`,
    "Compare states that were synced from the same base URL.",
  );
}

/** A backup, packed or unpacked, holds no state that a diff can read. @throws ChangeError */
function refuseBackup(path: string, isFolder: boolean): void {
  const isBackup = isFolder ? existsSync(join(path, "bookkeeping")) : /\.zip(\.age)?$/i.test(path);
  if (!isBackup) return;
  const file = isFolder ? "FILE" : path;
  throw new ChangeError(
    "bad-point",
    isFolder ? `${path} holds the files of a backup, not an export.` : `${path} is a backup, not a mirror.`,
    `Compare the mirror that \`armoire backup restore ${file} --mirror restored.sqlite\` makes.`,
  );
}
