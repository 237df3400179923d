/**
 * The frontier: what is due lives in the mirror and nowhere else. A resource that was never fetched is due; so is, in a
 * cycle, what was last checked before it began. A cycle lasts until nothing of its scope is due, over as many runs as
 * that takes.
 */
import { isFetchable } from "./absence/absences.ts";
import type { Connection } from "./file/connection.ts";
import { readMeta, writeMeta } from "./file/meta.ts";

export interface DueResource {
  readonly id: number;
  readonly url: string;
  readonly kind: string;
  /** The validator to ask with; null when nothing is held. */
  readonly etag: string | null;
}

/** What a run is about. */
export interface Scope {
  /** The kinds to fetch, in the order in which they are fetched. */
  readonly kinds: readonly string[];
  /** Only resources that belong to one of these; null for all. */
  readonly belowIds: readonly number[] | null;
  /** Only these themselves, and nothing that belongs to them; not so unless told. */
  readonly isExact?: boolean;
}

export interface CycleWork {
  /**
   * The next due resources, at most `limit`: the front page, then kind by kind what is held and the pages that its lists have
   * got since, then what was never fetched; what failed before comes last.
   */
  take(limit: number, isTaken?: (id: number) => boolean): DueResource[];
  count(): number;
  /** Whether nothing is due but what failed when it was last asked for. */
  readonly isDone: boolean;
  /** By kind, how many were never fetched and how many are to be checked. */
  countByKind(): { kind: string; fetch: number; check: number }[];
}

/** A cycle of checks: the run with which it began, and whether it only checks or fetches everything again. */
export interface CheckCycle {
  readonly run: number;
  readonly mode: "verify" | "full";
}

/** The present cycle, or the last one; null before the first. */
export function readCycle(db: Connection): CheckCycle | null {
  const run = readMeta(db, "cycle_run");
  if (run === null) return null;
  return { run: Number(run), mode: readMeta(db, "cycle_mode") === "full" ? "full" : "verify" };
}

export function writeCycle(db: Connection, { run, mode }: CheckCycle): void {
  db.transaction(() => {
    writeMeta(db, "cycle_run", String(run));
    writeMeta(db, "cycle_mode", mode);
  })();
}

/** An SQL condition on the resources called `alias`: that they belong to the scope's, and are worth asking for. */
export function isInScope({ belowIds, isExact = false }: Scope, alias: string): string {
  if (belowIds === null) return isFetchable(alias);
  if (isExact)
    return `${isFetchable(alias)} and ${alias}.id in (select value from json_each('${JSON.stringify(belowIds)}'))`;
  return `${isFetchable(alias)} and ${alias}.id in (
    with recursive tree (id) as (
      select value from json_each('${JSON.stringify(belowIds)}')
      union select r.id from _resource r join tree on r.owner_id = tree.id
    ) select id from tree)`;
}

/** What was only found unchanged since a full cycle began is still due in it. */
export function prepareCycleWork(
  db: Connection,
  scope: Scope,
  { run: cycleRun, mode }: CheckCycle,
): CycleWork {
  const lastRun = mode === "full" ? "iif(r.state = 'held', r.fetched_run, r.checked_run)" : "r.checked_run";
  const due = `r.kind = ? and r.state = ? and ${lastRun} < ? and ${isInScope(scope, "r")}`;
  const columns = "r.id, r.url, r.kind, r.etag";
  const select = db.prepare<[string, string, number], DueResource>(
    `select ${columns} from _resource r where ${due} order by r.checked_run, r.id`,
  );
  const selectPages = db.prepare<[string, string, number], DueResource>(
    `select ${columns} from _resource r where ${due} and r.id in (select id from _page) order by r.checked_run, r.id`,
  );
  const count = db
    .prepare<[string, string, number], number>(`select count(*) from _resource r where ${due}`)
    .pluck();
  const countUntried = db
    .prepare<[string, string, number], number>(
      `select count(*) from _resource r where ${due} and r.error is null`,
    )
    .pluck();
  const counted = scope.kinds.flatMap((kind) => ["due", "failed", "held"].map((state) => ({ kind, state })));
  // A list that is whole says which of its items need not be asked for.
  const parts = [
    ...scope.kinds.flatMap((kind) => [
      { kind, state: "held", from: select },
      { kind, state: "due", from: selectPages },
    ]),
    ...["due", "failed"].flatMap((state) => scope.kinds.map((kind) => ({ kind, state, from: select }))),
  ].sort(byRootFirst);

  const countOf = (kind: string, state: string): number => count.get(kind, state, cycleRun) ?? 0;

  return {
    take(limit, isTaken = () => false) {
      const taken: DueResource[] = [];
      const ids = new Set<number>();
      for (const { kind, state, from } of parts) {
        if (taken.length >= limit) break;
        const rows = firstOf(
          from.iterate(kind, state, cycleRun),
          limit - taken.length,
          (id) => ids.has(id) || isTaken(id),
        );
        for (const row of rows) ids.add(row.id);
        taken.push(...rows);
      }
      return taken;
    },
    count: () => counted.reduce((sum, { kind, state }) => sum + countOf(kind, state), 0),
    get isDone() {
      return counted.every(({ kind, state }) => countUntried.get(kind, state, cycleRun) === 0);
    },
    countByKind: () =>
      scope.kinds
        .map((kind) => ({
          kind,
          fetch: countOf(kind, "due") + countOf(kind, "failed"),
          check: countOf(kind, "held"),
        }))
        .filter(({ fetch, check }) => fetch + check > 0),
  };
}

/** The first rows that are not taken, at most `limit`. */
export function firstOf(
  rows: Iterable<DueResource>,
  limit: number,
  isTaken: (id: number) => boolean,
): DueResource[] {
  const taken: DueResource[] = [];
  if (limit <= 0) return taken;
  for (const row of rows) {
    if (isTaken(row.id)) continue;
    taken.push(row);
    if (taken.length === limit) break;
  }
  return taken;
}

/** The front page says whether this is still the service, before anything else is asked. */
function byRootFirst(a: { readonly kind: string }, b: { readonly kind: string }): number {
  return Number(b.kind === "root") - Number(a.kind === "root");
}
