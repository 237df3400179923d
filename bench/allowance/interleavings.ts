/**
 * Many concurrent requests against a small allowance, through the client and the ledger, in random order. The sandbox
 * counts them: never more than the allowance.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../src/platform/clock.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { Random } from "../../src/sandbox/random.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import type { ServiceClient } from "../../src/service/client.ts";
import { ServiceError } from "../../src/service/errors.ts";
import { openRateLimitedClient } from "../../src/sync/run/rate-limited-client.ts";
import { type Findings, formatCount } from "../aim.ts";
import { makeFolder } from "../folder.ts";
import { countCounted, countRefused, daySeconds } from "./rig.ts";

const allowance = 100;
const requestsAtOnce = 16;
/** With each of four services: a thousand together. */
const days = 250;
const daysOfLedger = 10;
const mostRuns = 4;
const mostMillis = 4;
const slowest = { fault: "slow", times: "always" } as const;
const world = { brands: 4, models: 60, sizes: 250 };

interface Variant {
  readonly name: string;
  /** Whether the service tells what is left, so that nothing need be refused. */
  readonly isTold: boolean;
  readonly options: SandboxOptions;
}

const services: readonly Variant[] = [
  { name: "reset as an epoch", isTold: true, options: {} },
  { name: "reset in seconds", isTold: true, options: { allowanceHeaders: "seconds" } },
  { name: "304 and root counted", isTold: true, options: { countNotModified: true, countRoot: true } },
  { name: "no headers, no ETags", isTold: false, options: { allowanceHeaders: "none", etag: "none" } },
];

interface Tally {
  sent: number;
  counted: number;
  refused: number;
  mostRefused: number;
  /** Of what would have been counted, had the sandbox not refused it. */
  mostSpent: number;
}

/** @param seed for what is asked, how fast each answer comes, and how many runs share the ledger */
export async function benchInterleavings(seed: number): Promise<Findings> {
  const tallies: { name: string; isTold: boolean; tally: Tally }[] = [];
  for (const [index, { name, isTold, options }] of services.entries())
    tallies.push({ name, isTold, tally: await tallyDays(options, new Random(seed, index)) });
  const most = (key: keyof Tally, told: boolean) =>
    Math.max(...tallies.filter(({ isTold }) => isTold === told).map(({ tally }) => tally[key]));
  return {
    title: `${requestsAtOnce} requests at once, of up to ${mostRuns} runs, ${allowance} a day, seed ${seed}`,
    headings: ["service", "days", "sent", "counted", "refused", "most refused a day", "most spent a day"],
    rows: tallies.map(({ name, tally: { sent, counted, refused, mostRefused, mostSpent } }) => [
      ...[name, days, formatCount(sent), formatCount(counted)],
      ...[refused, mostRefused, mostSpent],
    ]),
    aims: [
      {
        aim: `${requestsAtOnce} at once, ${formatCount(days * services.length)} days of ${allowance}: never ${allowance + 1}`,
        reached: `${most("mostSpent", true)} at most`,
        isReached: most("mostSpent", true) <= allowance,
      },
      {
        aim: `${requestsAtOnce} at once, without headers: at most one refusal a window`,
        reached: String(most("mostRefused", false)),
        isReached: most("mostRefused", false) <= 1,
      },
    ],
  };
}

async function tallyDays(options: SandboxOptions, random: Random): Promise<Tally> {
  const folder = await makeFolder();
  await using sandbox = await startSandbox({ ...world, allowance, ...options });
  const urls = Array.from(sandbox.truth(), ({ url }) => url);
  const etags = new Map<string, string | null>();
  const tally: Tally = { sent: 0, counted: 0, refused: 0, mostRefused: 0, mostSpent: 0 };
  try {
    for (let day = 0; day < days; day++) {
      // Sometimes the ledger starts empty.
      const ledgerFile = join(folder, `${Math.floor(day / daysOfLedger)}.sqlite`);
      const slow = () => ({
        ...slowest,
        every: 1 + random.integer(4),
        millis: 1 + random.integer(mostMillis),
      });
      sandbox.setFaults([slow(), slow()]);
      await spendDay(sandbox, ledgerFile, random, async (service) => {
        const url = random.pick(urls);
        const etag = random.chance(0.5) ? (etags.get(url) ?? null) : null;
        const fetched = await service.fetch({ url, etag });
        if (fetched.outcome === "body") etags.set(url, fetched.etag);
      });
      const log = sandbox.log();
      sandbox.clearLog();
      sandbox.moveClock({ advanceSeconds: daySeconds });
      const [counted, refused] = [countCounted(log), countRefused(log)];
      tally.sent += log.length;
      tally.counted += counted;
      tally.refused += refused;
      tally.mostRefused = Math.max(tally.mostRefused, refused);
      tally.mostSpent = Math.max(tally.mostSpent, counted + refused);
    }
    return tally;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Asks at once, by several runs with one ledger, until each is told that nothing is left. */
async function spendDay(
  sandbox: Sandbox,
  ledgerFile: string,
  random: Random,
  ask: (service: ServiceClient) => Promise<void>,
): Promise<void> {
  const clock: Clock = {
    now: () => sandbox.now().getTime(),
    random: () => random.next(),
    sleep: async () => void (await pause(1)),
  };
  const runs = await Promise.all(
    Array.from({ length: 1 + random.integer(mostRuns) }, () =>
      openRateLimitedClient({
        ...{ baseUrl: sandbox.url, credential: null, ledgerFile, budget: null, reserve: 0 },
        ...{ connections: requestsAtOnce, clock },
      }),
    ),
  );
  const askUntilSpent = async (service: ServiceClient) => {
    try {
      for (;;) await ask(service);
    } catch (error) {
      if (!(error instanceof ServiceError && error.next === "stop-allowance")) throw error;
    }
  };
  try {
    await Promise.all(
      Array.from({ length: requestsAtOnce }, (_, index) => {
        const run = runs[index % runs.length];
        return run === undefined ? null : askUntilSpent(run.client);
      }),
    );
  } finally {
    for (const run of runs) await run.close();
  }
}
