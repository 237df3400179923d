/**
 * A sandbox, a mirror in a folder of its own, and syncs between them in this process. The clock is the sandbox's, and waits
 * take no time.
 */
import { join } from "node:path";
import { type MirrorReader, openMirrorReader } from "../../../src/mirror/reader.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import type { SyncReport } from "../../../src/sync/report.ts";
import { type SyncOptions, sync } from "../../../src/sync/sync.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

export interface Rig extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly file: string;
  readonly serviceName: string;
  /** The sandbox's time. */
  readonly clock: Clock;
  sync(options?: Partial<SyncOptions>): Promise<SyncReport>;
  /** Opens the mirror, reads from it, and closes it. */
  read<Result>(read: (mirror: MirrorReader) => Result): Result;
}

/** Large enough for tests without an own allowance, and small enough for the order of requests to matter. */
const allowance = 4_000;

export async function startRig(options: SandboxOptions = {}): Promise<Rig> {
  const folder = await temporaryFolder();
  const sandbox = await startSandbox({ allowance, ...options });
  const { serviceName = "service" } = options;
  const file = join(folder.path, "catalogue.sqlite");
  const clock: Clock = {
    now: () => sandbox.now().getTime(),
    random: Math.random,
    sleep: async (_millis, signal) => signal?.throwIfAborted(),
  };
  return {
    sandbox,
    file,
    serviceName,
    clock,
    sync: (options = {}) => sync({ file, baseUrl: sandbox.url, serviceName, clock, ...options }),
    read(read) {
      const mirror = openMirrorReader(file);
      try {
        return read(mirror);
      } finally {
        mirror.close();
      }
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
