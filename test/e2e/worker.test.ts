/** Workers at the command line, in processes of their own. */
import { linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { freePort } from "../support/free-port.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import {
  callArmoire,
  type RunningArmoire,
  runArmoire,
  startArmoire,
  temporaryFolder,
} from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";

const world = { brands: 4, models: 12, sizes: 40, allowance: 1000 };

const password = "for-the-queue";

/** Starts a worker and waits until it accepts requests. */
async function startWorker(args: readonly string[], env?: Record<string, string>): Promise<RunningArmoire> {
  const running = startArmoire(["worker", ...args], env && { env });
  for await (const line of createInterface(running.process.stderr)) {
    if (line.includes("Sending requests")) return running;
  }
  throw new Error((await running.result).stderr);
}

async function endOf({ process, result }: RunningArmoire) {
  process.kill("SIGTERM");
  return await result;
}

it("a sync mirrors a catalogue through a worker, with the address and password of Redis in a file", async () => {
  const port = await freePort();
  await using _redis = await startRedis(["--requirepass", password, "--port", port, "--bind", "127.0.0.1"]);
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox(world);
  const settings = ["--base-url", sandbox.url, "--data-dir", folder.path];
  const address = join(folder.path, "redis-url");
  writeFileSync(address, `redis://:${password}@127.0.0.1:${port}\n`, { mode: 0o600 });
  const env = { ARMOIRE_REDIS_URL_FILE: address, DEBUG: "*" };
  const worker = await startWorker([...settings, "--principal", "catalogue"], env);
  const { stdout, stderr, exitCode } = await runArmoire(["sync", ...settings, "--json"], { env });
  expect(stderr).not.toContain(password);
  expect({ exitCode, report: JSON.parse(stdout) }).toMatchObject({
    exitCode: 0,
    report: { complete: true, requests: { counted: sandbox.log().filter(({ counted }) => counted).length } },
  });
  expect(await endOf(worker)).toMatchObject({ exitCode: 0 });
});

it("a sync with workers ends if its ledger is refused", async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox(world);
  const settings = ["--base-url", sandbox.url, "--data-dir", folder.path];
  expect((await callArmoire(["sync", ...settings, "--depth", "brands"])).exitCode).toBe(0);
  linkSync(join(folder.path, "ledger.sqlite"), join(folder.path, "copy"));
  const refused = await runArmoire(["sync", ...settings, "--redis", redis.url]);
  expectRefusal(refused, 1, /ledger\.sqlite has another name, too/);
});

it("a sync announces that it waits for a worker, and ends at Ctrl-C without a request", async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox(world);
  const settings = ["--base-url", sandbox.url, "--data-dir", folder.path, "--redis", redis.url];
  const sync = startArmoire(["sync", ...settings, "--json"]);
  for await (const line of createInterface(sync.process.stderr)) {
    if (line.includes("Waiting for a worker for catalogue: run `armoire worker --redis")) break;
  }
  sync.process.kill("SIGINT");
  const { stdout, exitCode } = await sync.result;
  expect({ exitCode, report: JSON.parse(stdout) }).toMatchObject({
    ...{ exitCode: 130, report: { stopped: "interrupted", requests: { sent: 0, counted: 0 } } },
  });
  expect(sandbox.log()).toEqual([]);
});

const refusedCases: readonly {
  readonly name: string;
  readonly args: (redis: RedisServer, folder: string) => readonly string[];
  readonly exitCode: number;
  readonly message: RegExp;
}[] = [
  {
    name: "no address of Redis is given",
    args: () => ["worker", "--base-url", "http://127.0.0.1:9/"],
    exitCode: 2,
    message: /The address of Redis is missing/,
  },
  {
    name: "no server listens at the address",
    args: (_, folder) => ["worker", "--base-url", "http://127.0.0.1:9/", "--redis", `${folder}/none.sock`],
    exitCode: 1,
    message: /^armoire: Redis at .*none\.sock cannot be reached: .*ENOENT/,
  },
  {
    name: "the address is invalid",
    args: () => ["sync", "--base-url", "http://127.0.0.1:9/", "--redis", "localhost:6379"],
    exitCode: 2,
    message: /neither redis:/,
  },
  {
    name: "the user has an unescaped %",
    args: () => ["worker", "--base-url", "http://127.0.0.1:9/", "--redis", "redis://50%off@127.0.0.1:6379"],
    exitCode: 2,
    message: /^(?!.*off).*Write the percent sign as %25/s,
  },
  {
    name: "the password is on the command line",
    args: () => ["sync", "--base-url", "http://127.0.0.1:9/", "--redis", "redis://:secret@127.0.0.1:6379"],
    exitCode: 2,
    message: /^(?!.*secret)armoire: --redis contains a password/s,
  },
  {
    name: "there is no base URL and no account",
    args: (redis, folder) => ["worker", "--redis", redis.url, "--data-dir", folder],
    exitCode: 4,
    message: /nothing to send requests for: no base URL and no account/,
  },
  {
    name: "the account is unknown",
    args: (redis, folder) => ["worker", "--redis", redis.url, "--data-dir", folder, "--principal", "ada"],
    exitCode: 2,
    message: /ada/,
  },
];

it.for(refusedCases)("a command is refused in a few lines: $name", async ({ args, exitCode, message }) => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  expectRefusal(await callArmoire(args(redis, folder.path)), exitCode, message);
});
