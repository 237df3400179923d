import type { SyncReport } from "../../../src/sync/report.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import type { Rig } from "./rig.ts";

export const dayMillis = 86_400_000;

/** Syncs once a day until the mirror is complete. */
export async function syncUntilComplete(rig: Rig, options: Partial<SyncOptions>): Promise<SyncReport[]> {
  const reports: SyncReport[] = [];
  while (reports.at(-1)?.complete !== true) {
    if (reports.length > 200) throw new Error("no run is complete");
    reports.push(await rig.sync(options));
    rig.sandbox.moveClock({ advanceSeconds: dayMillis / 1000 + 1 });
  }
  return reports;
}
