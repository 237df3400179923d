/** What was lost with pruned runs: how many there were, and sentences that say so beside an answer about the past. */
import type { Connection } from "../file/connection.ts";
import { prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { Point } from "./point.ts";
import { didSomething } from "./resolve-point.ts";

/**
 * How many pruned runs are nearer to the point than the run that it resolves to: then that run's state is older than the
 * one that was asked for.
 * @param run from `resolvePoint`
 */
export function countNearerPruned(db: Connection, point: Point, run: number): number {
  if (point.kind === "run") return 0;
  return countPruned(db, { after: run, ...(point.kind === "time" && { by: point.at }) });
}

/** The pruned runs that did something, after one run and before another, and that had ended by a time; default: all. */
export function countPruned(
  db: Connection,
  { after, before = Number.MAX_SAFE_INTEGER, by = "9999" }: { after: number; before?: number; by?: string },
): number {
  const select = prepareColumn(db, (p: { after: number; before: number; by: string }) =>
    q
      // Also where the mirror is shown as of an earlier run.
      .withSchema("main")
      .selectFrom("_run")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("pruned_at", "is not", null)
      .where(didSomething())
      .where("id", ">", p.after)
      .where("id", "<", p.before)
      .where("ended_at", "<=", p.by),
  );
  return select.get({ after, before, by }) ?? 0;
}

/** Beside the run that a point resolves to. */
export const describeNearerPruned = (count: number): string =>
  count === 1 ? "1 later one was pruned" : `${count} later ones were pruned`;

/** @param consequence for what the runs changed */
export const describePruned = (count: number, consequence: string): string =>
  `${count === 1 ? "1 run was" : `${count} runs were`} pruned: ${consequence}.`;

/** Beside a list of revisions, of which pruning has removed some. */
export const describeLostRevisions = (count: number): string =>
  describePruned(count, "recently_changed lacks what only they show");
