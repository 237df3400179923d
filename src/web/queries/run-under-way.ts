/** How far the running sync of a mirror is. Read from its files alone, while another process writes them. */
import { prepareColumn, q } from "../../mirror/file/statements.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { countStates, listRuns } from "../../mirror/runs/runs.ts";
import { toIso } from "../../platform/clock.ts";
import { readLatest } from "../../sync/rate-limit/known-allowance.ts";
import { ledgerFileBeside } from "../../sync/rate-limit/store/ledger-file.ts";

export interface RunUnderWay {
  readonly run: number;
  readonly startedAt: string;
  readonly mode: string;
  /** Resources that this run has checked or fetched. */
  readonly done: number;
  /** Resources that are known and were never fetched. */
  readonly toFetch: number;
  /** Requests that the allowance still grants; null if unknown. */
  readonly allowanceLeft: number | null;
  /** When all that may be fetched is, at the rate so far: ISO 8601, UTC; null if unknown. */
  readonly estimatedEnd: string | null;
}

/** Before, the rate changes too fast. */
const minSeconds = 5;

/** Null while no sync runs. @param now epoch milliseconds */
export function readRunUnderWay(mirror: MirrorReader, now: number): RunUnderWay | null {
  const { db, file, identity } = mirror;
  const [newest] = listRuns(mirror, 1);
  if (newest?.state !== "running") return null;
  const countDone = prepareColumn(db, (p: { run: number }) =>
    q
      .selectFrom("_resource")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("last_checked_run", "=", p.run),
  );
  const done = countDone.get({ run: newest.id }) ?? 0;
  const { due } = countStates(db);
  const left = readLatest(ledgerFileBeside(file), new URL(identity.baseUrl).origin, now)?.remaining ?? null;
  const seconds = (now - Date.parse(newest.startedAt)) / 1000;
  const isKnown = seconds >= minSeconds && done > 0 && due > 0;
  return {
    ...{
      run: newest.id,
      startedAt: newest.startedAt,
      mode: newest.mode,
      done,
      toFetch: due,
      allowanceLeft: left,
    },
    estimatedEnd: isKnown ? toIso(now + (1000 * seconds * Math.min(due, left ?? due)) / done) : null,
  };
}
