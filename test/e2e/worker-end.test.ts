/**
 * A stopped process ends within ten seconds, whatever it waits for; other workers complete a worker's requests. The tests
 * wait most of the time, so they run at the same time.
 */
import { describe, expect, it, vi } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { logLines } from "../support/log-lines.ts";
import { startRedis } from "../support/redis.ts";
import { type RunningArmoire, runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

async function startWorker(args: readonly string[]): Promise<RunningArmoire> {
  const running = startArmoire(["worker", ...args]);
  for await (const { event } of logLines(running)) if (event === "ready") return running;
  throw new Error((await running.result).stderr);
}

/** The documented deadline is ten seconds; a busy machine gets more. The signal kills a program that misses it. */
async function endInTime({ process, result }: RunningArmoire) {
  const timer = setTimeout(() => process.kill("SIGKILL"), 80_000);
  process.kill("SIGTERM");
  const end = await result;
  clearTimeout(timer);
  return end;
}

it.concurrent("a stopped worker returns slow requests, and another worker completes the mirror", async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  // Each brand gets a response at the second request only.
  await using sandbox = await startSandbox({
    ...{ brands: 5, models: 10, sizes: 20, allowance: 500 },
    faults: [{ kind: "brand", fault: "stall-headers" }],
  });
  const settings = ["--base-url", sandbox.url, "--data-dir", folder.path, "--redis", redis.url];
  const first = await startWorker(settings);
  const sync = runArmoire(["sync", ...settings, "--json"]);
  await vi.waitUntil(() => sandbox.log().filter(({ fault }) => fault).length === 5, { timeout: 80_000 });
  const end = await endInTime(first);
  expect(end).toMatchObject({ exitCode: 0 });
  const second = await startWorker(settings);
  const { stdout, exitCode } = await sync;
  expect({ exitCode, report: JSON.parse(stdout) }).toMatchObject({ exitCode: 0, report: { complete: true } });
  expect(await endInTime(second)).toMatchObject({ exitCode: 0 });
});

it.concurrent("a worker without Redis can be stopped", async () => {
  await using redis = await startRedis();
  const worker = await startWorker([
    "--base-url",
    "http://127.0.0.1:9/",
    "--redis",
    redis.url,
    "--dashboard",
    "0",
  ]);
  await redis.kill();
  expect(await endInTime(worker)).toMatchObject({ exitCode: 0 });
});

describe.concurrent("in the middle of requests", () => {
  async function startRequests() {
    const redis = await startRedis();
    const folder = await temporaryFolder();
    const sandbox = await startSandbox({
      ...{ brands: 5, models: 10, sizes: 20, allowance: 500 },
      faults: [{ kind: "brand", fault: "stall-headers" }],
    });
    const settings = ["--base-url", sandbox.url, "--data-dir", folder.path, "--redis", redis.url];
    const worker = await startWorker(settings);
    const sync = startArmoire(["sync", ...settings, "--json"]);
    await vi.waitUntil(() => sandbox.log().filter(({ fault }) => fault).length === 5, { timeout: 80_000 });
    return {
      ...{ redis, settings, worker, sync },
      async [Symbol.asyncDispose]() {
        sync.process.kill("SIGKILL");
        await sync.result;
        await sandbox.close();
        await folder[Symbol.asyncDispose]();
        await redis[Symbol.asyncDispose]();
      },
    };
  }

  it("a worker with running requests stops just after Redis died, and another worker completes the mirror", async () => {
    await using rig = await startRequests();
    const { redis, settings, worker, sync } = rig;
    await redis.kill();
    expect(await endInTime(worker)).toMatchObject({ exitCode: 0 });
    // Redis starts again without its data.
    await redis.start();
    const second = await startWorker(settings);
    const { stdout, exitCode } = await sync.result;
    const report = JSON.parse(stdout);
    expect({ exitCode, report }).toMatchObject({ exitCode: 0, report: { complete: true } });
    expect(await endInTime(second)).toMatchObject({ exitCode: 0 });
  });

  it("a sync whose Redis is gone can be stopped", async () => {
    await using rig = await startRequests();
    await rig.redis.kill();
    expect(await endInTime(rig.sync)).toMatchObject({ exitCode: 143 });
    rig.worker.process.kill("SIGKILL");
    await rig.worker.result;
  });

  it("a sync and a worker with running requests can be stopped while Redis hangs", async () => {
    await using rig = await startRequests();
    rig.redis.signal("SIGSTOP");
    const [sync, worker] = await Promise.all([endInTime(rig.sync), endInTime(rig.worker)]);
    expect(sync).toMatchObject({ exitCode: 143 });
    expect(worker).toMatchObject({ exitCode: 0 });
  });
});
