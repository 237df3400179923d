import type { SyncReport } from "../../../src/sync/report.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import type { Rig } from "./rig.ts";

export const dayMillis = 86_400_000;

/** Syncs once a day until the mirror is complete and no check is due. */
export async function syncUntilComplete(rig: Rig, options: Partial<SyncOptions>): Promise<SyncReport[]> {
  const reports: SyncReport[] = [];
  const isDone = (report: SyncReport | undefined) =>
    report?.complete === true && report.stopped === null && report.resources.pending === 0;
  while (!isDone(reports.at(-1))) {
    if (reports.length > 200) throw new Error("no run is complete");
    reports.push(await rig.sync(options));
    rig.sandbox.moveClock({ advanceSeconds: dayMillis / 1000 + 1 });
  }
  return reports;
}
