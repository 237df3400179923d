/**
 * A sandbox with an allowance, a mirror, and one run a day. The sandbox's clock moves by a day after each run, and waiting
 * takes no time, so months pass in minutes.
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
import { makeFolder } from "../folder.ts";

// Each sync starts a writer thread that loads the sources again; the compile cache halves that time.
enableCompileCache();

/** A day's window has ended for sure, whatever a run took of it. */
export const daySeconds = 86_460;
/** Counted requests a day, as such services grant them to an application. */
export const dailyAllowance = 300;
export const concurrency = 4;

/** What a run did, by its own report and by what the sandbox saw. */
export interface Day {
  readonly report: SyncReport;
  readonly log: readonly LogEntry[];
}

export interface Rig extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** The mirror. */
  readonly file: string;
  /** One run; afterwards it is the next day, and the sandbox's log is empty. */
  runDay(options?: Partial<SyncOptions>): Promise<Day>;
}

export async function startRig(options: SandboxOptions): Promise<Rig> {
  const folder = await makeFolder();
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
    async runDay(more = {}) {
      const report = await sync({ file, baseUrl: sandbox.url, concurrency, clock, ...more });
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

/** The URLs of the catalogue but for the root, which is not counted. */
export function listResources(sandbox: Sandbox): string[] {
  const urls: string[] = [];
  for (const { url, kind } of sandbox.truth()) if (kind !== "root") urls.push(url);
  return urls;
}
