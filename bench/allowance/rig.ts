/**
 * A sandbox with an allowance, and a mirror with one run a day. The sandbox's clock moves by a day after each run, and
 * waiting takes no time, so months pass in minutes.
 */
import { rm } from "node:fs/promises";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import type { Clock } from "../../src/platform/clock.ts";
import type { LogEntry } from "../../src/sandbox/http/request-log.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import type { SyncReport } from "../../src/sync/report.ts";
import { type SyncOptions, sync } from "../../src/sync/sync.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";

// Each sync starts a writer thread that loads the sources again; the compile cache halves that time.
enableCompileCache();

/** A day and a minute: the allowance window of a run has ended, however long the run took. */
export const daySeconds = 86_460;
/** Counted requests per day; services grant 30 to 300 to an application. */
export const dailyAllowance = 300;
export const concurrency = 4;

/** The report of a run and the sandbox's log of its requests. */
export interface Day {
  readonly report: SyncReport;
  readonly log: readonly LogEntry[];
}

export interface Rig extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** The mirror. */
  readonly file: string;
  /** Runs once, clears the sandbox's log, and moves the clock to the next day. */
  runDay(options?: Partial<SyncOptions>): Promise<Day>;
}

export async function startRig(options: SandboxOptions): Promise<Rig> {
  const folder = await makeTemporaryFolder();
  const sandbox = await startSandbox({ allowance: dailyAllowance, ...options });
  const file = join(folder, "catalogue.sqlite");
  const clock: Clock = {
    now: () => sandbox.now().getTime(),
    random: () => 0.5,
    sleep: async (_millis, signal) => signal?.throwIfAborted(),
  };
  return {
    sandbox,
    folder,
    file,
    async runDay(syncOptions = {}) {
      const report = await sync({ file, baseUrl: sandbox.url, concurrency, clock, ...syncOptions });
      const log = sandbox.log();
      sandbox.clearLog();
      sandbox.moveClock({ advanceSeconds: daySeconds });
      return { report, log };
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function countCounted(log: readonly LogEntry[]): number {
  return log.filter(({ counted }) => counted).length;
}

export function countRefused(log: readonly LogEntry[]): number {
  return log.filter(({ status }) => status === 403).length;
}

/** The URLs of the catalogue, except the root, which is not counted. */
export function listResources(sandbox: Sandbox): string[] {
  const urls: string[] = [];
  for (const { url, kind } of sandbox.truth()) if (kind !== "root") urls.push(url);
  return urls;
}
