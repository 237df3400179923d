/**
 * The frontier: what is due lives in the mirror and nowhere else. A resource is due when it was never fetched, or when
 * it was last checked before the present cycle began; a cycle lasts until nothing of its scope is due, over as many runs
 * as that takes.
 */
import type { Connection } from "./connection.ts";
import { readMeta, writeMeta } from "./meta.ts";

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
}

export interface Frontier {
  /**
   * The next due resources, at most `limit`: the front page, then what was never fetched, then what is to be checked, each
   * in the order of the scope's kinds and then of discovery.
   */
  take(limit: number): DueResource[];
  count(): number;
  /** Whether nothing is due but what failed when it was last asked for. */
  readonly isDone: boolean;
  /** By kind, how many were never fetched and how many are to be checked. */
  countByKind(): { kind: string; fetch: number; check: number }[];
}

/** The run with which the present cycle of checks began; null before the first. */
export function readCycleRun(db: Connection): number | null {
  const value = readMeta(db, "cycle_run");
  return value === null ? null : Number(value);
}

export function writeCycleRun(db: Connection, runId: number): void {
  writeMeta(db, "cycle_run", String(runId));
}

/** @param cycleRun the run with which the present cycle began */
export function prepareFrontier(db: Connection, scope: Scope, cycleRun: number): Frontier {
  const below =
    scope.belowIds === null
      ? ""
      : `and id in (
           with recursive tree (id) as (
             select value from json_each('${JSON.stringify(scope.belowIds)}')
             union select r.id from _resource r join tree on r.owner_id = tree.id
           ) select id from tree)`;
  const due = "kind = ? and state = ? and checked_run < ?";
  const select = db.prepare<[string, string, number, number], DueResource>(
    `select id, url, kind, etag from _resource where ${due} ${below} order by id limit ?`,
  );
  const count = db
    .prepare<[string, string, number], number>(`select count(*) from _resource where ${due} ${below}`)
    .pluck();
  const countUntried = db
    .prepare<[string, string, number], number>(
      `select count(*) from _resource where ${due} ${below} and error is null`,
    )
    .pluck();
  const ofKinds = (...states: string[]) =>
    states.flatMap((state) => scope.kinds.map((kind) => ({ kind, state })));
  const parts = ofKinds("due", "failed", "held").sort(byRootFirst);

  const countOf = (kind: string, state: string): number => count.get(kind, state, cycleRun) ?? 0;

  return {
    take(limit) {
      const taken: DueResource[] = [];
      for (const { kind, state } of parts) {
        if (taken.length >= limit) break;
        taken.push(...select.all(kind, state, cycleRun, limit - taken.length));
      }
      return taken;
    },
    count: () => parts.reduce((sum, { kind, state }) => sum + countOf(kind, state), 0),
    get isDone() {
      return parts.every(({ kind, state }) => countUntried.get(kind, state, cycleRun) === 0);
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

/** The front page says whether this is still the service, before anything else is asked. */
function byRootFirst(a: { readonly kind: string }, b: { readonly kind: string }): number {
  return Number(b.kind === "root") - Number(a.kind === "root");
}
