/**
 * A whole first sync by four workers while everything around it is killed, frozen, restarted and emptied at random. In: a
 * seed. Out: what was done to it and what was asked of the service. All parties are processes of their own, as users start them.
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
  /** Between two disturbances, at most. */
  readonly maxMillisBetween: number;
  /** A frozen process is thawed after so long at most: a lock lapses in six seconds. */
  readonly maxMillisFrozen: number;
  readonly log: (text: string) => void;
}

export interface ChaosReport {
  /** What was done, and how often. */
  readonly disturbances: Readonly<Record<string, number>>;
  /** That the service got. */
  readonly requests: number;
  readonly resources: number;
  /** Requests that may have been under way when something was disturbed, and so were asked again. */
  readonly maxRepeated: number;
  /** Whether the mirror says what that of a sync by itself says. */
  readonly isSame: boolean;
  readonly seconds: number;
}

const workers = 4;
const concurrency = 4;
const mostEnds = 20;

interface Party {
  running: RunningArmoire;
  readonly start: () => RunningArmoire;
}

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const {
    seed,
    world,
    maxMillisBetween: mostMillisBetween,
    maxMillisFrozen: mostMillisFrozen,
    log: say,
  } = options;
  const random = new Random(seed);
  const began = performance.now();
  const folder = await temporaryFolder();
  const redis = await startRedis(["--appendonly", "yes", "--appendfsync", "everysec"]);
  const sandbox = await startSandbox({ ...world, allowance: 10_000_000 });
  const mirror = join(folder.path, "catalogue.sqlite");
  const parties: Party[] = [];
  const party = (args: readonly string[]): Party => {
    const start = () => startArmoire([...args, "--redis", redis.url, "--base-url", sandbox.url]);
    const one = { running: start(), start };
    parties.push(one);
    return one;
  };
  const disturbances: Record<string, number> = {};
  let allowed = 0;
  let ends = 0;

  try {
    const crowd = Array.from({ length: workers }, () =>
      party(["worker", "--concurrency", String(concurrency)]),
    );
    // A run that begins once more checks nothing that the ones before have fetched: checks go one at a time, and each disturbance
    // costs them seconds, so that it might never end.
    const coordinator = party(["sync", "--mirror", mirror, "--max-free-checks", "0", "--json", "--quiet"]);
    const kill = async (one: Party) => {
      one.running.process.kill("SIGKILL");
      await one.running.result;
      one.running = one.start();
    };
    const freeze = async (one: Party) => {
      one.running.process.kill("SIGSTOP");
      await delay(random.integer(mostMillisFrozen));
      one.running.process.kill("SIGCONT");
    };
    const someone = () => random.pick(crowd);
    const all = workers * concurrency;
    // Beside what is being sent: what it has heard and not written yet, in a twentieth of a second.
    const heardByCoordinator = all;
    const kinds: readonly (readonly [what: string, atRisk: number, work: () => Promise<unknown>])[] = [
      ["worker killed", concurrency, () => kill(someone())],
      ["worker frozen", concurrency, () => freeze(someone())],
      ["two workers frozen", 2 * concurrency, () => Promise.all([freeze(someone()), freeze(someone())])],
      ["coordinator killed", all + heardByCoordinator, () => kill(coordinator)],
      ["coordinator frozen", all, () => freeze(coordinator)],
      ["Redis restarted", all, () => restart(redis)],
      ["Redis frozen", all, () => freezeRedis(redis, random.integer(mostMillisFrozen))],
      ["Redis emptied", all, () => redis.admin.flushall()],
      ["connections cut", all, () => redis.admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")],
    ];
    for (;;) {
      const end = await Promise.race([
        coordinator.running.result,
        delay(random.integer(mostMillisBetween), null),
      ]);
      if (end?.exitCode === 0) break;
      if (end !== null) {
        // What failed again and again while its workers were killed is due in the next run; so is all, where Redis was away.
        if (++ends > mostEnds) throw new Error(`it ended with ${end.exitCode}, again: ${end.stderr}`);
        allowed += all;
        say(`the coordinator ended with ${end.exitCode} and begins again: ${end.stderr}`);
        coordinator.running = coordinator.start();
        continue;
      }
      const [what, atRisk, work] = random.pick(kinds);
      disturbances[what] = (disturbances[what] ?? 0) + 1;
      allowed += atRisk;
      await work();
      say(`${what}; ${sandbox.log().length} requests so far`);
    }
    const requests = sandbox.log().length;
    const inline = join(folder.path, "inline.sqlite");
    const { resources } = await sync({ file: inline, baseUrl: sandbox.url, concurrency: 16 });
    return {
      ...{ disturbances, requests, maxRepeated: allowed, resources: resources.new },
      isSame: isDeepStrictEqual(dumpOf(mirror), dumpOf(inline)),
      seconds: (performance.now() - began) / 1000,
    };
  } finally {
    for (const { running } of parties) running.process.kill("SIGKILL");
    await Promise.all(parties.map(({ running }) => running.result));
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

function dumpOf(file: string) {
  const reader = openMirrorReader(file);
  try {
    return canonicalDump(reader);
  } finally {
    reader.close();
  }
}
