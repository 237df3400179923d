/** The change log of a mirror: what each run found, newest run first, as single changes or as entries for people. */

import { hash } from "node:crypto";
import { toJson } from "../../../exports/formats/json.ts";
import { type MirrorIdentity, readMirrorId } from "../../mirror/file/meta.ts";
import { rowsAt } from "../../mirror/past/as-of.ts";
import { lastChangedRun } from "../../mirror/past/changed-since.ts";
import { type Point, PointError } from "../../mirror/points/point.ts";
import { countPruned } from "../../mirror/points/pruned-runs.ts";
import {
  comparedRun,
  type EndedRun,
  resolvePoint,
  resolveSince,
  runFrom,
} from "../../mirror/points/resolve-point.ts";
import { publicTables } from "../../mirror/public-tables.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { entityTable } from "../../mirror/rows/versioned-rows.ts";
import { type Coverage, readCoverage } from "../../mirror/runs/coverage.ts";
import { type Change, count, type Totals } from "../change.ts";
import { compareKinds } from "../compared-kinds.ts";
import { diff } from "../diff.ts";
import { type ChangeFilter, type FilterInput, isOfKind, parseFilter } from "../filter.ts";
import { createLabelFinder, type Keyed, withLabels } from "../keys.ts";
import { compareRuns } from "../run-comparison.ts";
import { namedIn, openSnapshot } from "../sources.ts";

export interface ChangeLogRequest extends FilterInput {
  /** The mirror's file. */
  readonly mirror: string;
  /** Only the runs after this point. Default, and for a point before the first run: all runs. */
  readonly since?: Point;
  /** Only the runs with a higher number; excludes `since`. */
  readonly after?: number;
}

/** One read transaction. Close it afterwards. */
export interface ChangeLog {
  readonly identity: MirrorIdentity;
  /** A URN, the same for the same filter and for copies of the mirror. */
  readonly id: string;
  /** The last run. */
  readonly to: EndedRun;
  /** The number of pruned runs: what they changed counts as changed by the next run that is left. */
  readonly prunedRuns: number;
  /**
   * The first run that is left, if all runs before it are pruned. The state before it is not known, so that neither its
   * changes nor theirs are listed. Null if the log begins earlier or later.
   */
  readonly baseline: EndedRun | null;
  /** The runs that changed something, newest first. Read the changes of one run before the next run. */
  readonly runs: () => Iterable<RunChanges>;
  /** At the last run, of the kinds that may have changes. */
  readonly coverage: Coverage;
  /** As `runs`, grouped. Changes of `last_modified_at` alone are left out. */
  readonly entries: () => Iterable<ChangeEntry>;
  close(): void;
}

export interface RunChanges extends EndedRun {
  /** Whether there is no run before it: then everything is new. */
  readonly isFirst: boolean;
  /** Ordered by kind and `href`. */
  readonly changes: Iterable<Keyed<Change>>;
}

/** What one run found about one resource: a brand, a model with its sizes, a bra, … */
export interface ChangeEntry extends EndedRun {
  /** A URN, the same whenever the log is read, until its run is pruned. */
  readonly id: string;
  /** Null for the first run and one with very many changes: the entry has only their number. */
  readonly subject: Subject | null;
  /** Empty if `subject` is null. */
  readonly changes: readonly Keyed<Change>[];
  /** The number of changes by kind and word. */
  readonly totals: Totals;
}

export interface Subject {
  readonly kind: string;
  /** What `armoire show` takes; null if its slug is unknown. */
  readonly key: string | null;
  readonly href: string;
  /** A model has the name of its brand before its own. */
  readonly label: string;
  /** Its page on the public site. */
  readonly page: string | null;
}

/** A run with more entries or changes is one entry, as is the first run, so that a first sync does not fill a feed. */
const maxEntriesOfRun = 100;
const maxChangesOfRun = 2_000;

/** Opens the log of what each run of a mirror has changed. @throws ChangeError, PointError, MirrorError */
export function openChangeLog({
  mirror: file,
  since,
  after: afterRun,
  ...input
}: ChangeLogRequest): ChangeLog {
  return openSnapshot(file, (mirror) => {
    const last = resolvePoint(mirror.db, { kind: "latest", back: 0 });
    const after = since === undefined ? (afterRun ?? 0) : runOfSince(mirror, since);
    const mirrorId = readMirrorId(mirror.db) ?? mirror.identity.baseUrl;
    const tables = publicTables(mirror);
    const { kinds } = compareKinds(tables, tables);
    const filter = parseFilter(input, kinds, namedIn(mirror));
    const ofFilter = kinds.filter((kind) => isOfKind(filter, kind)).map(({ name }) => name);
    const runs = () => runsWithChanges(mirror, after, last.run, filter);
    const baseline = readBaseline(mirror, after);
    return {
      identity: mirror.identity,
      id: urnOf(`${mirrorId} ${toJson(filter)}`),
      to: last,
      coverage: readCoverage({ db: mirror.db, asOf: last }, ofFilter),
      prunedRuns: countPruned(mirror.db, { after: baseline?.run ?? after, before: last.run }),
      baseline,
      runs,
      *entries() {
        for (const run of runs()) yield* entriesOf(run, mirrorId, subjectFinder(mirror, run.run));
      },
      close: mirror.close,
    };
  });
}

function runOfSince({ db }: MirrorReader, since: Point): number {
  try {
    return resolveSince(db, since).run;
  } catch (error) {
    if (error instanceof PointError && error.code === "too-early") return 0;
    throw error;
  }
}

function readBaseline({ db }: MirrorReader, after: number): EndedRun | null {
  const first = runFrom(db, 1);
  return first !== null && first.run > after && comparedRun(db, first).run === first.run ? first : null;
}

function* runsWithChanges(
  mirror: MirrorReader,
  after: number,
  last: number,
  filter: ChangeFilter,
): Generator<RunChanges> {
  const { db } = mirror;
  for (let run = lastChangedRun(db, last); run !== null; ) {
    // What a pruned run changed counts as changed by the next run.
    const ended = runFrom(db, run);
    if (ended === null || ended.run <= after) return;
    const before = comparedRun(db, ended).run;
    if (before === ended.run) return;
    // Undoes the temporary tables of the comparison, so that the next one can make its own.
    db.exec("savepoint of_run");
    try {
      const found = diff(compareRuns(mirror, { before, after: ended.run }), filter);
      const changes = withLabels(found, createLabelFinder(db, ended.run));
      yield { ...ended, isFirst: before === 0, changes };
    } finally {
      db.exec("rollback to of_run; release of_run");
    }
    run = lastChangedRun(db, before);
  }
}

function* entriesOf(
  { run, endedAt, isFirst, changes }: RunChanges,
  mirrorId: string,
  findSubject: (change: Keyed<Change>) => Subject,
): Generator<ChangeEntry> {
  const idOf = (href: string) => urnOf(`${mirrorId} ${run} ${href}`);
  const entries = new Map<string, { subject: Subject; changes: Keyed<Change>[]; totals: Totals }>();
  const totals: Totals = {};
  let changesOfRun = 0;
  let isLong = isFirst;
  for (const change of changes) {
    if (change.change === "touched") continue;
    count(totals, change);
    changesOfRun++;
    isLong ||= changesOfRun > maxChangesOfRun;
    if (isLong) continue;
    const subject = findSubject(change);
    const entry = entries.get(subject.href) ?? { subject, changes: [], totals: {} };
    entries.set(subject.href, entry);
    entry.changes.push(change);
    count(entry.totals, change);
    isLong = entries.size > maxEntriesOfRun;
  }
  if (isLong && changesOfRun > 0) yield { run, endedAt, id: idOf(""), subject: null, changes: [], totals };
  else for (const [href, entry] of entries) yield { run, endedAt, id: idOf(href), ...entry };
}

/** A UUID of version 8, from a hash: the same for the same text. */
function urnOf(text: string): string {
  const digits = hash("sha256", text).slice(0, 32);
  const variant = ((Number.parseInt(digits[16] ?? "0", 16) & 0x3) | 0x8).toString(16);
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`];
  return `urn:uuid:${[...parts, variant + digits.slice(17, 20), digits.slice(20)].join("-")}`;
}

/** A size belongs to its model; everything else stands for itself. Names are those after the run, so that entries stay as they are. */
function subjectFinder({ db, identity }: MirrorReader, run: number): (change: Keyed<Change>) => Subject {
  const textOf = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value : null);
  const pathOf = (href: string) => href.replace(identity.baseUrl, "");
  if (identity.area === "account")
    return ({ kind, key, href, name }) => ({
      kind,
      key,
      href,
      label: textOf(name) ?? pathOf(href),
      page: null,
    });
  // Raw: rows of the past.
  const idOfHref = "(select id from main._resource where url = :href)";
  const rowOf = (table: string, id: string) => `(${rowsAt(entityTable(table), run, `id = ${id}`)})`;
  const selectModel = db
    .prepare<{ href: string }, string>(
      `select r.url from ${rowOf("size", idOfHref)} s join main._resource r on r.id = s.model_id`,
    )
    .pluck();
  const selectPage = (table: string) =>
    db.prepare<{ href: string }, unknown>(`select service_url from ${rowOf(table, idOfHref)}`).pluck();
  const [pageOfBrand, pageOfModel] = [selectPage("brand"), selectPage("model")];
  const findLabels = createLabelFinder(db, run);
  return (change) => {
    const ofModel = change.kind === "size" ? selectModel.get({ href: change.href }) : undefined;
    const { kind, key, href, name } =
      ofModel === undefined
        ? change
        : {
            kind: "model",
            key: findLabels(ofModel, "model")?.key ?? null,
            href: ofModel,
            name: change.model,
          };
    const own = textOf(name) ?? pathOf(href);
    const ofBrand = textOf(change.brand);
    const page = (kind === "brand" ? pageOfBrand : pageOfModel).get({ href });
    return { kind, key, href, label: ofBrand === null ? own : `${ofBrand} › ${own}`, page: textOf(page) };
  };
}
