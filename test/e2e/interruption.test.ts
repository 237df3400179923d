import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { checkMirror } from "../../src/mirror/check/check.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { listRuns } from "../../src/mirror/runs/run-log.ts";
import type { FaultRuleInput } from "../../src/sandbox/faults/fault-rules.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { startAccountRig } from "../accounts/support/account-rig.ts";
import { memoryKeychain } from "../accounts/support/memory-keychain.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { callArmoire, runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

const hour = 3_600_000;

interface SyncRig extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly file: string;
  readonly args: readonly string[];
}

async function startSyncRig(options: SandboxOptions): Promise<SyncRig> {
  const folder = await temporaryFolder();
  // Each response has the remaining count, so that the sync requests resources only.
  const sandbox = await startSandbox({ brands: 6, models: 12, sizes: 24, allowance: 10_000, ...options });
  const file = `${folder.path}/catalogue.sqlite`;
  return {
    ...{
      sandbox,
      file,
      args: ["sync", "--base-url", sandbox.url, "--mirror", file, "--data-dir", folder.path],
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Waits for this number of requests. */
async function waitForRequests({ sandbox }: SyncRig, count: number): Promise<void> {
  await vi.waitFor(() => expect(sandbox.log().length).toBeGreaterThanOrEqual(count), {
    timeout: 80_000,
    interval: 5,
  });
}

function readRuns({ file }: SyncRig) {
  const mirror = openMirrorReader(file);
  try {
    expect(checkMirror(mirror, kinds).problems).toEqual([]);
    return listRuns(mirror, 10).map(({ id, endedAt, stopped }) => ({
      id,
      isClosed: endedAt !== null,
      stopped,
    }));
  } finally {
    mirror.close();
  }
}

describe("interrupted sync", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 143],
  ] as const)(
    "a sync that is interrupted by %s exits with %d and everything saved, and the next sync continues",
    async (signal, exitCode) => {
      await using syncRig = await startSyncRig({ latencyMillis: 20 });
      const running = startArmoire([...syncRig.args, "--json"]);
      await waitForRequests(syncRig, 20);
      running.process.kill(signal);
      const result = await running.result;
      expect(result.exitCode).toBe(exitCode);
      expect(result.stderr).toMatch(/^\nStopping: running requests are finished and saved\./);
      const report = JSON.parse(result.stdout) as { stopped: string; resources: { new: number } };
      expect(report.stopped).toBe("interrupted");
      expect(report.resources.new).toBe(syncRig.sandbox.log().length);
      expect(readRuns(syncRig)).toEqual([{ id: 1, isClosed: true, stopped: "interrupted" }]);

      expect((await callArmoire(syncRig.args)).exitCode).toBe(0);
      // Held resources were unchanged (304).
      const urls = syncRig.sandbox.log().flatMap(({ url, status }) => (status === 200 ? [url] : []));
      expect(urls.sort()).toEqual([...syncRig.sandbox.truth()].map(({ url }) => url).sort());
    },
  );

  it("a sync that is interrupted does not wait for a service that never responds", async () => {
    await using syncRig = await startSyncRig({ latencyMillis: hour });
    const running = startArmoire(syncRig.args);
    await waitForRequests(syncRig, 1);
    running.process.kill("SIGINT");
    expect(await running.result).toMatchObject({
      exitCode: 130,
      stdout: expect.stringContaining("Interrupted;"),
    });
    expect(readRuns(syncRig)).toEqual([{ id: 1, isClosed: true, stopped: "interrupted" }]);
  });

  it("a sync that is interrupted ends at once at the second signal, and the next sync closes its run", async () => {
    await using syncRig = await startSyncRig({ latencyMillis: hour });
    const running = startArmoire(syncRig.args);
    await waitForRequests(syncRig, 1);
    running.process.kill("SIGINT");
    await once(running.process.stderr, "readable");
    // Signals within a tenth of a second of the first one count as one.
    const repeated = setInterval(() => running.process.kill("SIGINT"), 20);
    onTestFinished(() => clearInterval(repeated));
    expect(await running.result).toMatchObject({ exitCode: 130, stdout: "" });
    expect(readRuns(syncRig)).toEqual([{ id: 1, isClosed: false, stopped: null }]);

    const next = startArmoire(syncRig.args);
    await waitForRequests(syncRig, 2);
    next.process.kill("SIGTERM");
    await next.result;
    expect(readRuns(syncRig)).toEqual([
      { id: 2, isClosed: true, stopped: "interrupted" },
      { id: 1, isClosed: true, stopped: "interrupted" },
    ]);
  });
});

it.runIf(process.platform === "linux")(
  "Ctrl-C during a keychain's prompt is an interruption, not an error of the keychain",
  async () => {
    await using rig = await startAccountRig();
    await rig.keep("ada", "canary-token-0001", memoryKeychain());
    const connected = Promise.withResolvers<Socket>();
    const bus = createServer((socket) => connected.resolve(socket.on("error", () => {}).resume()));
    onTestFinished(() => void bus.close());
    await new Promise<void>((resolve) => bus.listen(`${rig.dataDir}/bus`, resolve));
    const running = startArmoire(["sync", "--account", "ada", "--data-dir", rig.dataDir], {
      env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${rig.dataDir}/bus` },
    });
    const socket = await connected.promise;
    const stopping = new Promise<void>((resolve) => {
      let printed = "";
      running.process.stderr.on("data", (piece) => {
        printed += piece;
        if (printed.includes("Stopping")) resolve();
      });
    });
    running.process.kill("SIGINT");
    await stopping;
    socket.destroy();
    expect(await running.result).toMatchObject({
      exitCode: 130,
      stderr: expect.stringMatching(/\narmoire: Interrupted; nothing was requested\.\n$/),
    });
  },
);

describe("locked mirror", () => {
  it("a mirror that another process has locked is refused with the process that holds the lock, and can be read meanwhile", async () => {
    await using syncRig = await startSyncRig({ latencyMillis: hour });
    const holder = startArmoire(syncRig.args);
    await waitForRequests(syncRig, 1);
    const [second, rebuild, compact, status] = await Promise.all([
      runArmoire(syncRig.args),
      callArmoire(["mirror", "rebuild", "--mirror", syncRig.file]),
      callArmoire(["mirror", "compact", "--mirror", syncRig.file]),
      callArmoire(["status", "--mirror", syncRig.file, "--json"]),
    ]);
    for (const refused of [second, rebuild, compact]) {
      expect(refused).toEqual({ exitCode: 11, stdout: "", stderr: expect.any(String) });
      expect(refused.stderr).toMatch(new RegExp(`in use by process ${holder.process.pid} on .* since `));
      expect(refused.stderr.split("\n")).toHaveLength(3);
    }
    expect(status.exitCode).toBe(0);
    expect(syncRig.sandbox.log()).toHaveLength(1);
    holder.process.kill("SIGKILL");
    await holder.result;
    expect((await callArmoire(["mirror", "rebuild", "--mirror", syncRig.file])).exitCode).toBe(0);
  });
});

describe("closed pipes", () => {
  /** The exit code of the program in a pipe whose reader closes at once. */
  async function pipeIntoNothing(
    args: readonly string[],
    redirection: string,
  ): Promise<{ exitCode: number; stderr: string }> {
    const program = [process.execPath, armoireProgram, ...args];
    const script = `"$@" ${redirection} | true; exit "\${PIPESTATUS[0]}"`;
    const shell = spawn("bash", ["-c", script, "bash", ...program], { stdio: ["ignore", "ignore", "pipe"] });
    const [stderr, [exitCode]] = await Promise.all([text(shell.stderr), once(shell, "close")]);
    return { exitCode: exitCode as number, stderr };
  }

  it("a closed output pipe is no error, and a sync completes", async () => {
    await using syncRig = await startSyncRig({});
    expect(await pipeIntoNothing(syncRig.args, "")).toEqual({ exitCode: 0, stderr: "" });
    expect(readRuns(syncRig)).toEqual([{ id: 1, isClosed: true, stopped: null }]);
    const everything = "select a.* from size a, size b limit 2000";
    expect(await pipeIntoNothing(["query", everything, "--mirror", syncRig.file], "")).toEqual({
      exitCode: 0,
      stderr: "",
    });
  });

  it("a closed output pipe is no error on stderr: the work continues", async () => {
    await using syncRig = await startSyncRig({
      faults: [{ kind: "brand", positions: [1], times: "always", fault: "not-json" }],
    });
    const { exitCode } = await pipeIntoNothing([...syncRig.args, "--nonsense"], "2>&1 >/dev/null");
    expect(exitCode).toBe(2);
    expect((await pipeIntoNothing([...syncRig.args], "2>&1 >/dev/null")).exitCode).toBe(3);
  });
});

it.each<[string, FaultRuleInput]>([
  ["404", { fault: "status", status: 404 }],
  ["a login page", { fault: "login-page" }],
])(
  "a sync that an outage ends (%s) exits with 1, also if it stored something before",
  async (_form, fault) => {
    await using rig = await startSyncRig({ allowance: null, latencyMillis: 20 });
    const syncing = callArmoire(rig.args);
    await waitForRequests(rig, 10);
    rig.sandbox.setFaults([{ times: "always", ...fault }]);
    const { exitCode, stdout } = await syncing;
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("The service no longer responds.")]);
    expect(readRuns(rig)).toMatchObject([{ isClosed: true, stopped: "error" }]);
  },
);
