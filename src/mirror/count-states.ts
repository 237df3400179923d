import type { Connection } from "./connection.ts";

const states = ["due", "held", "failed", "elsewhere", "superseded", "gone"] as const;

/** How many resources a mirror has in each state, none left out. */
export function countStates(db: Connection): Record<(typeof states)[number], number> {
  const sums = states.map((state) => `coalesce(sum(state = '${state}'), 0) as ${state}`);
  return db
    .prepare<[], Record<(typeof states)[number], number>>(`select ${sums.join(", ")} from _resource`)
    .get() as Record<(typeof states)[number], number>;
}
