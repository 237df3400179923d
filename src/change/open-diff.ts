/** From what a person compares to its changes: points become places, places become states. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "../mirror/file/connection.ts";
import { lastChangedRun } from "../mirror/past/changed-since.ts";
import { type Point, type PointContext, type PointOrPath, pointContext } from "../mirror/points/point.ts";
import { type EndedRun, readEndedRun, resolvePoint, runBefore } from "../mirror/points/resolve-point.ts";
import { readServiceTime } from "../mirror/points/service-time.ts";
import { readMirror } from "../mirror/reader.ts";
import type { Change, Reported } from "./change.ts";
import { type ComparedKind, compareKinds } from "./compared-kinds.ts";
import { diff, reportedSince } from "./diff.ts";
import { ChangeError } from "./errors.ts";
import { type FilterInput, noFilter, parseFilter } from "./filter.ts";
import { openRunPairs, type RunPairs } from "./merge-join.ts";
import {
  type DiffSource,
  type FolderLocation,
  type MirrorLocation,
  openMirrorSource,
  type SourceLocation,
} from "./sources.ts";

export interface DiffRequest extends FilterInput {
  /** The file that points are of; not needed where both are files or folders. */
  readonly mirror?: string;
  /**
   * The run before the last one up to `to` that changed anything, unless told; `"nothing"` is the run before `to`, and takes
   * the first run for all new.
   */
  readonly from?: PointOrPath | "nothing";
  /** The latest run unless told. */
  readonly to?: PointOrPath;
}

/** Changes that are read as they are iterated, once; to be closed in the end. */
export interface OpenDiff<Found> {
  /** Null where nothing is compared. */
  readonly from: DiffSource | null;
  readonly to: DiffSource;
  /** Of what the service reports, since when, as it writes times; null for what was observed. */
  readonly since: string | null;
  /** Tables, and fields as `table.field`, that only one of the two has and that are not compared. */
  readonly leftOut: readonly string[];
  readonly changes: Iterable<Found>;
  close(): void;
}

/**
 * What was observed to change between two points.
 * @throws ChangeError, PointError, MirrorError, ExportError
 */
export async function openDiff(request: DiffRequest): Promise<OpenDiff<Change>> {
  const to = findPlace(request.to ?? { kind: "latest" }, request.mirror);
  const from =
    request.from === undefined || request.from === "nothing"
      ? placeBefore(to, request.from === "nothing")
      : findPlace(request.from, request.mirror);
  const opened: { close(): void }[] = [];
  const close = () => {
    for (const each of opened) each.close();
  };
  try {
    const a = await open(from);
    opened.push(a);
    const b = await open(to);
    opened.push(b);
    requireOneService(a, b);
    const { kinds, leftOut } = compareKinds(a, b);
    const choice = parseFilter(request, kinds, [a, b]);
    const pairs = openPairs(from, to);
    if (pairs !== null) opened.push(pairs);
    return { from: a, to: b, since: null, leftOut, changes: diff(a, b, choice, pairs?.pairing), close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * What the service reports as changed at a time or later, by the state at `to`.
 * @param request `from`, `fields` and `ignored` do not matter
 * @param since a time as the service writes it, of any precision, or a point in time that is no run
 * @param context the present unless told
 * @throws ChangeError, PointError, MirrorError, ExportError
 */
export async function openReported(
  request: DiffRequest,
  since: string,
  context: PointContext = pointContext(),
): Promise<OpenDiff<Reported>> {
  const time = readServiceTime(since, context);
  const to = await open(findPlace(request.to ?? { kind: "latest" }, request.mirror));
  try {
    const { kinds } = compareKinds(to, to);
    if (!kinds.some(({ fields }) => fields.includes("last_modified_at"))) throw nothingDated(kinds);
    const { mirror: _mirror, fields: _fields, ignored: _ignored, ...asked } = request;
    const changes = reportedSince(to, time, parseFilter(asked, kinds, [to]));
    return { from: null, to, since: time, leftOut: [], changes, close: () => to.close() };
  } catch (error) {
    to.close();
    throw error;
  }
}

/** Nothing of an account is. */
function nothingDated(kinds: readonly ComparedKind[]): ChangeError {
  return new ChangeError(
    "not-comparable",
    `The service dates nothing of what is here: ${kinds.map(({ name }) => name).join(", ")}.`,
    "Without --since, `armoire diff --from -7d` shows what the mirror saw change.",
  );
}

function findPlace(point: PointOrPath, mirror: string | undefined): SourceLocation {
  if ("path" in point) {
    refuseBackup(point.path, point.kind === "export");
    return point.kind === "export"
      ? ({ folder: point.path, run: null } satisfies FolderLocation)
      : findRun(point.path, { kind: "latest" });
  }
  if (mirror !== undefined) return findRun(mirror, point);
  throw new ChangeError("bad-point", "No mirror is given that the point is of.", "Give a mirror's file.");
}

function findRun(file: string, point: Point): MirrorLocation {
  return { mirror: file, ...readMirror(file, ({ db }) => resolvePoint(db, point)) };
}

function placeBefore(to: SourceLocation, orNothing: boolean): SourceLocation {
  if ("folder" in to) {
    throw new ChangeError(
      "bad-point",
      `Nothing says what ${to.folder} is to be compared with.`,
      "Give --from as well: a run, a time, a mirror's file or an export's folder.",
    );
  }
  const before = readMirror(to.mirror, ({ db }) =>
    orNothing ? runBefore(db, to.run) : runBeforeLastChange(db, to),
  );
  if (before !== null) return { mirror: to.mirror, ...before };
  if (orNothing) return { mirror: to.mirror, run: 0, endedAt: null };
  throw new ChangeError(
    "no-such-run",
    `Run ${to.run} is the first of ${to.mirror}: there is nothing before it.`,
    "Give --from a mirror's file or an export's folder, or sync again.",
  );
}

function openPairs(a: SourceLocation, b: SourceLocation): RunPairs | null {
  return "mirror" in a && "mirror" in b && a.mirror === b.mirror ? openRunPairs(a, b) : null;
}

/** A resource is its URL. */
function requireOneService({ baseUrl: one }: DiffSource, { baseUrl: other }: DiffSource): void {
  if (one === null || other === null || one === other) return;
  throw new ChangeError(
    "two-services",
    `They are of two services, ${one} and ${other}: nothing in them is the same.`,
    "One service has other URLs at another base URL: compare what was synced from the same one.",
  );
}

async function open(place: SourceLocation): Promise<DiffSource> {
  if ("mirror" in place) return openMirrorSource(place);
  const { openFolderSource: openFolderState } = await import("./sources.ts");
  return openFolderState(place.folder);
}

/** A backup is no state to read rows from, packed or unpacked; a mirror can be made of it. @throws ChangeError */
export function refuseBackup(path: string, isFolder: boolean): void {
  const isBackup = isFolder ? existsSync(join(path, "bookkeeping")) : /\.zip(\.age)?$/i.test(path);
  if (!isBackup) return;
  const file = isFolder ? "FILE" : path;
  throw new ChangeError(
    "bad-point",
    isFolder ? `${path} holds the files of a backup, and no export.` : `${path} is a backup, and no mirror.`,
    `\`armoire backup restore ${file} --mirror restored.sqlite\` makes a mirror of it: compare that.`,
  );
}

/** Where what changed last begins: runs that changed nothing are passed over. In: a run that has ended. Out: another one. */

/**
 * The last run before the newest one, up to `to`, that changed what analysts read; where that was the first run, it itself,
 * as nothing has changed since. Null where `to` is the first.
 * @param db a reader of that mirror
 * @throws MirrorError
 */
export function runBeforeLastChange(db: Connection, { mirror, run }: MirrorLocation): EndedRun | null {
  for (let last = lastChangedRun(db, run); last !== null; ) {
    const before = runBefore(db, last);
    if (before === null) return last < run ? readEndedRun(db, last) : null;
    if (isDifferent({ mirror, ...before }, { mirror, run: last, endedAt: null })) return before;
    last = lastChangedRun(db, before.run);
  }
  return runBefore(db, run);
}

function isDifferent(a: MirrorLocation, b: MirrorLocation): boolean {
  const opened: { close(): void }[] = [];
  const keep = <Opened extends { close(): void }>(one: Opened): Opened => {
    opened.push(one);
    return one;
  };
  try {
    const one = keep(openMirrorSource(a));
    const other = keep(openMirrorSource(b));
    const { pairing } = keep(openRunPairs(a, b));
    // Ends the statements as well, where there is more: a loop closes what it leaves.
    for (const _change of diff(one, other, noFilter, pairing)) return true;
    return false;
  } finally {
    for (const one of opened.reverse()) one.close();
  }
}
