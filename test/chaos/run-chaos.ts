/**
 * A first sync by several workers while processes and Redis are killed, frozen, restarted and emptied at random, while clocks
 * are wrong, and beside workers of another version. Returns the disturbances and the number of requests. Each is a separate
 * process, as users start it.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { Random } from "../../src/sandbox/random.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { type RunningArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly world: SandboxOptions;
  readonly workers: number;
  /** The longest pause between two disturbances. */
  readonly maxMillisBetween: number;
  /** The longest freeze of a process. A lock expires after six seconds. */
  readonly maxMillisFrozen: number;
  readonly log: (text: string) => void;
}

export interface ChaosReport {
  /** Disturbance to count. */
  readonly disturbances: Readonly<Record<string, number>>;
  /** The requests that the service received. */
  readonly requests: number;
  readonly resources: number;
  /** At most this number of requests were running at a disturbance and had to be repeated. */
  readonly maxRepeated: number;
  /** Whether the mirror equals that of an undisturbed sync. */
  readonly isSame: boolean;
  readonly seconds: number;
}

const concurrency = 4;
const maxRestarts = 20;
const maxClockErrorMillis = 3_600_000;
const evictionPolicies = ["allkeys-random", "allkeys-lru", "volatile-ttl"] as const;

interface ChaosProcess {
  running: RunningArmoire;
  readonly start: (env?: Readonly<Record<string, string>>) => RunningArmoire;
}

/** Settings of a process that imports a module of this folder first. */
const importing = (module: string, env: Readonly<Record<string, string>> = {}) => ({
  ...env,
  NODE_OPTIONS: `--import=${new URL(module, import.meta.url).href}`,
});

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, world, workers, maxMillisBetween, maxMillisFrozen, log } = options;
  const random = new Random(seed);
  const startedAt = performance.now();
  const folder = await temporaryFolder();
  const redis = await startRedis(["--appendonly", "yes", "--appendfsync", "everysec"]);
  const sandbox = await startSandbox({ ...world, allowance: 10_000_000 });
  const mirror = join(folder.path, "catalogue.sqlite");
  const processes: ChaosProcess[] = [];
  const startProcess = (args: readonly string[], env = {}): ChaosProcess => {
    const start: ChaosProcess["start"] = (env = {}) =>
      startArmoire([...args, "--redis", redis.url, "--base-url", sandbox.url], { env });
    const started = { running: start(env), start };
    processes.push(started);
    return started;
  };
  const disturbances: Record<string, number> = {};
  let maxRepeated = 0;
  let restarts = 0;

  try {
    const fetchWorkers = Array.from({ length: workers }, () =>
      startProcess(["worker", "--concurrency", String(concurrency)]),
    );
    // Without free checks: they are sent one at a time, and each disturbance delays them by seconds, so that the sync might
    // never end.
    const coordinator = startProcess([
      "sync",
      "--mirror",
      mirror,
      "--max-free-checks",
      "0",
      "--json",
      "--quiet",
    ]);
    const otherWorker = startProcess(["worker"], importing("other-version.ts"));
    const kill = async (target: ChaosProcess, env?: Readonly<Record<string, string>>) => {
      target.running.process.kill("SIGKILL");
      await target.running.result;
      target.running = target.start(env);
    };
    const setClockWrong = async () => {
      const error = random.integer(2 * maxClockErrorMillis) - maxClockErrorMillis;
      await kill(anyWorker(), importing("wrong-clock.ts", { CLOCK_ERROR_MILLIS: String(error) }));
    };
    const freeze = async (target: ChaosProcess) => {
      target.running.process.kill("SIGSTOP");
      await delay(random.integer(maxMillisFrozen));
      target.running.process.kill("SIGCONT");
    };
    const anyWorker = () => random.pick(fetchWorkers);
    const maxRunning = workers * concurrency;
    // Besides running requests: responses of a twentieth of a second that the coordinator has not stored yet.
    const unstored = maxRunning;
    const disturbanceTypes: readonly (readonly [
      name: string,
      atRisk: number,
      disturb: () => Promise<unknown>,
    ])[] = [
      ["worker killed", concurrency, () => kill(anyWorker())],
      ["worker frozen", concurrency, () => freeze(anyWorker())],
      ["two workers frozen", 2 * concurrency, () => Promise.all([freeze(anyWorker()), freeze(anyWorker())])],
      ["coordinator killed", maxRunning + unstored, () => kill(coordinator)],
      ["coordinator frozen", maxRunning, () => freeze(coordinator)],
      ["Redis restarted", maxRunning, () => restart(redis)],
      ["Redis frozen", maxRunning, () => freezeRedis(redis, random.integer(maxMillisFrozen))],
      ["Redis emptied", maxRunning, () => redis.admin.flushall()],
      ["worker with a wrong clock", concurrency, setClockWrong],
      ["worker of another version killed", 0, () => kill(otherWorker, importing("other-version.ts"))],
      ["keys evicted", maxRunning, () => evictKeys(redis, random.pick(evictionPolicies))],
      [
        "connections cut",
        maxRunning,
        () => redis.admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"),
      ],
    ];
    for (;;) {
      const end = await Promise.race([
        coordinator.running.result,
        delay(random.integer(maxMillisBetween), null),
      ]);
      if (end?.exitCode === 0) break;
      if (end !== null) {
        // Resources that failed in every attempt are due in the next run, as are all after a failure of Redis.
        if (++restarts > maxRestarts)
          throw new Error(`the coordinator failed too often, at last with ${end.exitCode}: ${end.stderr}`);
        maxRepeated += maxRunning;
        log(`the coordinator ended with ${end.exitCode} and starts again: ${end.stderr}`);
        coordinator.running = coordinator.start();
        continue;
      }
      const [name, atRisk, disturb] = random.pick(disturbanceTypes);
      disturbances[name] = (disturbances[name] ?? 0) + 1;
      maxRepeated += atRisk;
      await disturb();
      log(`${name}; ${sandbox.log().length} requests so far`);
    }
    const requests = sandbox.log().length;
    const inline = join(folder.path, "inline.sqlite");
    const { resources } = await sync({ file: inline, baseUrl: sandbox.url, concurrency: 16 });
    return {
      ...{ disturbances, requests, maxRepeated, resources: resources.new },
      isSame: isDeepStrictEqual(dumpOf(mirror), dumpOf(inline)),
      seconds: (performance.now() - startedAt) / 1000,
    };
  } finally {
    for (const { running } of processes) running.process.kill("SIGKILL");
    await Promise.all(processes.map(({ running }) => running.result));
    await sandbox.close();
    await redis[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  }
}

async function restart(redis: RedisServer): Promise<void> {
  await redis.kill();
  await redis.start();
}

async function freezeRedis(redis: RedisServer, millis: number): Promise<void> {
  redis.signal("SIGSTOP");
  await delay(millis);
  redis.signal("SIGCONT");
}

/** Redis loses keys, as with a memory limit and a policy that allows it. */
async function evictKeys({ admin }: RedisServer, policy: string): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await admin.info("memory"))?.[1]);
  await admin.config("SET", "maxmemory-policy", policy);
  await admin.config("SET", "maxmemory", String(Math.round(used * 0.95)));
  // Evicts until the limit holds.
  await admin.set("chaos", "", "EX", 1).catch(() => {});
  await admin.config("SET", "maxmemory", "0");
  await admin.config("SET", "maxmemory-policy", "noeviction");
}

function dumpOf(file: string) {
  const reader = openMirrorReader(file);
  try {
    return canonicalDump(reader);
  } finally {
    reader.close();
  }
}
