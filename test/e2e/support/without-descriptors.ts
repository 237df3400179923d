/** Run as `node without-descriptors.ts MIRROR`: starts things without a free descriptor, and prints what became of each. */
import { once } from "node:events";
import { openSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { systemKeychain } from "../../../src/accounts/tokens/system-keychain.ts";
import { runChangeCommand } from "../../../src/change/log/run-command.ts";
import { describeError } from "../../../src/cli/terminal/exit-codes.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { defaultLimits } from "../../../src/query/sql/limits.ts";
import { forkQueryProcess, startQueryProcess } from "../../../src/query/sql/query-process.ts";
import { spawnCommand } from "../../../src/schedule/run/spawn-command.ts";

const [, , mirror = ""] = process.argv;

function takeAllDescriptors(): void {
  try {
    for (;;) openSync("/dev/null", "r");
  } catch {
    // No descriptor is left.
  }
}

const program = { command: "true", args: [], env: {} };
const actions: Readonly<Record<string, () => Promise<unknown>>> = {
  changes: () =>
    runChangeCommand(
      { command: ["true"], format: "ndjson", env: {} },
      { mirror, after: 0 },
      undefined,
      async () => takeAllDescriptors(),
    ),
  query: () => startQueryProcess(defaultLimits).request({ type: "next" }),
  stoppedQuery: () => forkQueryProcess().stop(),
  keychain: () => systemKeychain({ env: { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" } }).get("x"),
  schedule: () =>
    spawnCommand({
      ...{ program, args: [], folder: "/", clock: systemClock, onLine: () => {} },
      signal: AbortSignal.abort("SIGTERM"),
    }),
  async thread() {
    const [error] = await once(new Worker("", { eval: true }), "error");
    throw error;
  },
};

const outcomes: Record<string, unknown> = {};
for (const [name, act] of Object.entries(actions)) {
  outcomes[name] = await act().catch((error: unknown) => describeError(error, false));
  // The changes close their own mirror.
  takeAllDescriptors();
}
process.stdout.write(JSON.stringify(outcomes));
