/**
 * Cycles of checks: in mode `verify` every resource of a scope is checked once, in mode `full` every one is fetched
 * again, over as many runs as that takes. A cycle ends when nothing of its scope is due. The mirror alone holds its
 * progress: a resource is due in a cycle if it was last checked before the cycle began.
 */
import { type SqlBool, sql } from "kysely";
import type { ResourceState } from "../../schema/tables.ts";
import type { Connection } from "./file/connection.ts";
import { readMeta, writeMeta } from "./file/meta.ts";
import { prepare, prepareColumn } from "./file/statements.ts";
import { q } from "./queries/query-builder.ts";
import {
  type DueResource,
  dueColumns,
  firstOf,
  inScope,
  type Scope,
  type ScopeParameters,
  scopeParameters,
} from "./scope.ts";

export interface CheckCycle {
  /** The run that began the cycle. */
  readonly run: number;
  readonly mode: "verify" | "full";
}

/** The current or last cycle; null before the first one. */
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

export interface CycleWork {
  /**
   * The next due resources, at most `limit`: the root; then, kind by kind, held resources and new pages of their
   * listings; then resources that were never fetched; failed ones last.
   */
  take(limit: number, isTaken?: (id: number) => boolean): DueResource[];
  count(): number;
  /** Whether only resources whose last request failed are due. */
  readonly isDone: boolean;
  /** The numbers of resources to fetch for the first time and to check; kinds without any are left out. */
  countByKind(): { kind: string; fetch: number; check: number }[];
}

export function prepareCycleWork(db: Connection, scope: Scope, { run, mode }: CheckCycle): CycleWork {
  const { select, selectPages, count, selectUntried } = prepareStatements(db);
  const parameters = scopeParameters(scope);
  const stepOf = (kind: string, state: ResourceState): Step => {
    // In a full cycle, a resource that was only found unchanged is still due.
    const since =
      mode === "full" && state === "held"
        ? { checkedBefore: Number.MAX_SAFE_INTEGER, fetchedBefore: run }
        : { checkedBefore: run, fetchedBefore: null };
    return { ...parameters, kind, state, ...since };
  };
  const states: readonly ResourceState[] = ["due", "failed", "held"];
  const countOf = (kind: string, state: ResourceState): number => count.get(stepOf(kind, state)) ?? 0;

  // New pages come early: a complete listing shows which of its items need no request.
  const steps = [
    ...scope.kinds.flatMap((kind) => [
      { kind, state: "held", statement: select } as const,
      { kind, state: "due", statement: selectPages } as const,
    ]),
    ...(["due", "failed"] as const).flatMap((state) =>
      scope.kinds.map((kind) => ({ kind, state, statement: select })),
    ),
  ].sort(byRootFirst);

  return {
    take(limit, isTaken = () => false) {
      const taken: DueResource[] = [];
      const ids = new Set<number>();
      for (const { kind, state, statement } of steps) {
        if (taken.length >= limit) break;
        const rows = statement.iterate(stepOf(kind, state));
        const next = firstOf(rows, limit - taken.length, (id) => ids.has(id) || isTaken(id));
        for (const { id } of next) ids.add(id);
        taken.push(...next);
      }
      return taken;
    },
    count: () =>
      scope.kinds
        .flatMap((kind) => states.map((state) => countOf(kind, state)))
        .reduce((sum, n) => sum + n, 0),
    get isDone() {
      return scope.kinds.every((kind) =>
        states.every((state) => selectUntried.get(stepOf(kind, state)) === undefined),
      );
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

interface Step extends ScopeParameters {
  kind: string;
  state: ResourceState;
  /** A run. */
  checkedBefore: number;
  /** A run; null for any. */
  fetchedBefore: number | null;
}

const isDue = (p: Step) =>
  sql<SqlBool>`(r.kind = ${p.kind} and r.state = ${p.state} and r.checked_run < ${p.checkedBefore}
    and (${p.fetchedBefore} is null or r.fetched_run < ${p.fetchedBefore}) and ${inScope(p, "r")})`;

const selectDue = (p: Step) => q.selectFrom("_resource as r").where(isDue(p));

function prepareStatements(db: Connection) {
  return {
    select: prepare(db, (p: Step) =>
      selectDue(p).select(dueColumns).orderBy("r.checked_run").orderBy("r.id"),
    ),
    // A list with a due page has an open pass. From there, in this order of tables, so that the cost does not grow with the
    // number of due resources.
    selectPages: prepare(db, (p: Step) =>
      q
        .selectFrom("_pass as pass")
        .crossJoin("_page as page")
        .crossJoin("_resource as r")
        .whereRef("page.collection_id", "=", "pass.collection_id")
        .whereRef("r.id", "=", "page.id")
        .where("pass.status", "=", "open")
        .where(isDue(p))
        .select(dueColumns)
        .orderBy("r.checked_run")
        .orderBy("r.id"),
    ),
    count: prepareColumn(db, (p: Step) => selectDue(p).select((eb) => eb.fn.countAll<number>().as("count"))),
    selectUntried: prepareColumn(db, (p: Step) =>
      selectDue(p).select("r.id").where("r.error", "is", null).limit(1),
    ),
  };
}

/** The root shows whether this is still the service, so it is requested before anything else. */
function byRootFirst(a: { readonly kind: string }, b: { readonly kind: string }): number {
  return Number(b.kind === "root") - Number(a.kind === "root");
}
