/** How far a running sync is: counts over all resources. */
import { prepareColumn, q } from "../../mirror/file/statements.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { countStates } from "../../mirror/runs/runs.ts";

export interface Progress {
  /** Resources that the run has checked or fetched. */
  readonly done: number;
  /** Resources that are known and were never fetched. */
  readonly toFetch: number;
}

export function countProgress({ db }: MirrorReader, run: number): Progress {
  const countDone = prepareColumn(db, (p: { run: number }) =>
    q
      .selectFrom("_resource")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("last_checked_run", "=", p.run),
  );
  return { done: countDone.get({ run }) ?? 0, toFetch: countStates(db).due };
}
