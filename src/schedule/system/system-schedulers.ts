/**
 * A schedule as files for the operating system's scheduler, which then starts the runs. Armoire keeps no history of
 * them.
 */

import type { Schedule } from "../schedule.ts";
import { printCrontab } from "./crontab.ts";
import type { Installation, PrintedFile } from "./installation.ts";
import { printSystemdUnits } from "./systemd-units.ts";

export const systemSchedulers = ["systemd", "cron"] as const;
export type SystemScheduler = (typeof systemSchedulers)[number];

/** Writes a schedule as the files of a system's scheduler, which nothing installs. @throws ScheduleError `inexpressible` */
export function printSchedule(
  schedule: Schedule,
  scheduler: SystemScheduler,
  installation: Installation,
): readonly PrintedFile[] {
  return scheduler === "systemd"
    ? printSystemdUnits(schedule, installation)
    : [printCrontab(schedule, installation)];
}
