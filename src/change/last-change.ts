/** Where what changed last begins: runs that changed nothing are passed over. In: a run that has ended. Out: another one. */
import type { Connection } from "../mirror/file/connection.ts";
import { lastStir } from "../mirror/past/last-stir.ts";
import { type EndedRun, readEndedRun, runBefore } from "../mirror/points/resolve-point.ts";
import { everything } from "./choice.ts";
import { diff } from "./diff.ts";
import { openRunPairs } from "./mirror-pairs.ts";
import { openMirrorState } from "./mirror-state.ts";
import type { MirrorPlace } from "./state.ts";

/**
 * The last run before the newest one, up to `to`, that changed what analysts read; where that was the first run, it itself,
 * as nothing has changed since. Null where `to` is the first.
 * @param db a reader of that mirror
 * @throws MirrorError
 */
export function runBeforeLastChange(db: Connection, { mirror, run }: MirrorPlace): EndedRun | null {
  for (let last = lastStir(db, run); last !== null; ) {
    const before = runBefore(db, last);
    if (before === null) return last < run ? readEndedRun(db, last) : null;
    if (isDifferent({ mirror, ...before }, { mirror, run: last, endedAt: null })) return before;
    last = lastStir(db, before.run);
  }
  return runBefore(db, run);
}

function isDifferent(a: MirrorPlace, b: MirrorPlace): boolean {
  const opened: { close(): void }[] = [];
  const keep = <Opened extends { close(): void }>(one: Opened): Opened => {
    opened.push(one);
    return one;
  };
  try {
    const one = keep(openMirrorState(a));
    const other = keep(openMirrorState(b));
    const { pairing } = keep(openRunPairs(a, b));
    // Ends the statements as well, where there is more: a loop closes what it leaves.
    for (const _change of diff(one, other, everything, pairing)) return true;
    return false;
  } finally {
    for (const one of opened.reverse()) one.close();
  }
}
