/** A schedule: when a command of this program is to run, again and again. */
import { join } from "node:path";

export interface Schedule {
  readonly name: string;
  /** Five fields, or six that begin with seconds. */
  readonly cron: string;
  /** The zone that it is meant in, as IANA calls it. */
  readonly tz: string;
  /** Within which a run begins after its time; 0 for at its time. */
  readonly jitterMillis: number;
  /** How long after its time a run begins: drawn once, so that it is the same every day. */
  readonly delayMillis: number;
  /** The command and its options, without the program. */
  readonly args: readonly string[];
  /** The folder that relative paths in `args` are meant in. */
  readonly folder: string;
  /** What the runs are of: no two of one mirror run at a time. */
  readonly mirror: string;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
}

/** The files of schedules in a data directory. */
export interface SchedulePlace {
  readonly schedulesFile: string;
  readonly runsFolder: string;
  /** Locked while the schedules are changed. */
  readonly changeLock: string;
  /** Locked while one process alone begins the runs. */
  readonly runLock: string;
}

export function schedulePlace(dataDir: string): SchedulePlace {
  return {
    schedulesFile: join(dataDir, "schedules.json"),
    runsFolder: join(dataDir, "schedule-runs"),
    changeLock: join(dataDir, "schedules"),
    runLock: join(dataDir, "schedule-run"),
  };
}
