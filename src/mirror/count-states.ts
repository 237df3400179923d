import type { Connection } from "./file/connection.ts";

type State = "due" | "held" | "failed" | "elsewhere" | "superseded" | "gone";

/** How many resources a mirror has in each state, none left out. */
export function countStates(db: Connection): Record<State, number> {
  const counts = { due: 0, held: 0, failed: 0, elsewhere: 0, superseded: 0, gone: 0 };
  // As the index has them, which is read in its order: 20 ms for 120,000.
  const rows = db
    .prepare<[], { state: State; count: number }>(
      "select state, count(*) as count from _resource group by kind, state",
    )
    .all();
  for (const { state, count } of rows) counts[state] += count;
  return counts;
}
