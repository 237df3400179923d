/** A schedule for the system's own scheduler. Nothing of this program then begins it, and no outcome of it is kept here. */
import type { Installation, PrintedFile } from "./installation.ts";
import { printCron } from "./print-cron.ts";
import { printSystemd } from "./print-systemd.ts";
import type { Schedule } from "./schedule.ts";

export const systemSchedulers = ["systemd", "cron"] as const;
export type SystemScheduler = (typeof systemSchedulers)[number];

/** @throws ScheduleError `inexpressible` */
export function printSchedule(
  schedule: Schedule,
  scheduler: SystemScheduler,
  installation: Installation,
): readonly PrintedFile[] {
  return scheduler === "systemd" ? printSystemd(schedule, installation) : [printCron(schedule, installation)];
}
