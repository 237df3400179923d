/**
 * Many concurrent requests through the client and the ledger, with responses in random order and a small allowance. The
 * sandbox counts them: they never exceed the allowance.
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
import { type BenchmarkResult, formatCount } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { countCounted, countRefused, daySeconds } from "./rig.ts";

const allowance = 100;
const concurrency = 16;
/** Per service. */
const days = 250;
const daysPerLedger = 10;
const maxRuns = 4;
const maxDelayMillis = 4;
const delayed = { fault: "slow", times: "always" } as const;
const catalogue = { brands: 4, models: 60, sizes: 250 };

interface Service {
  readonly name: string;
  /** Whether the service reports the remaining requests; without that, a run learns of the end by a refusal. */
  readonly reportsRemaining: boolean;
  readonly options: SandboxOptions;
}

const services: readonly Service[] = [
  { name: "reset as an epoch", reportsRemaining: true, options: {} },
  { name: "reset in seconds", reportsRemaining: true, options: { allowanceHeaders: "seconds" } },
  {
    name: "304 and root counted",
    reportsRemaining: true,
    options: { countNotModified: true, countRoot: true },
  },
  {
    name: "no headers, no ETags",
    reportsRemaining: false,
    options: { allowanceHeaders: "none", etag: "none" },
  },
];

interface Tally {
  sent: number;
  counted: number;
  refused: number;
  /** Per day. */
  maxRefused: number;
  /** Counted and refused requests per day. */
  maxSpent: number;
}

/** @param seed decides the requests, the delay of each response, and the number of runs that share the ledger */
export async function benchInterleavings(seed: number): Promise<BenchmarkResult> {
  const tallies: { service: Service; tally: Tally }[] = [];
  for (const [index, service] of services.entries())
    tallies.push({ service, tally: await tallyDays(service.options, new Random(seed, index)) });
  const reporting = tallies.filter(({ service }) => service.reportsRemaining);
  const silent = tallies.filter(({ service }) => !service.reportsRemaining);
  const maxSpent = Math.max(...reporting.map(({ tally }) => tally.maxSpent));
  const maxRefused = Math.max(...silent.map(({ tally }) => tally.maxRefused));
  return {
    title: `${concurrency} requests at once, of up to ${maxRuns} runs, ${allowance} a day, seed ${seed}`,
    headings: [
      "service",
      "days",
      "sent",
      "counted",
      "refused",
      "refused a day, at most",
      "spent a day, at most",
    ],
    rows: tallies.map(({ service, tally }) => [
      ...[service.name, days, formatCount(tally.sent), formatCount(tally.counted)],
      ...[tally.refused, tally.maxRefused, tally.maxSpent],
    ]),
    targets: [
      {
        target: `${concurrency} at once, ${formatCount(days * services.length)} days of ${allowance}: never ${allowance + 1}`,
        measured: `${maxSpent} at most`,
        isMet: maxSpent <= allowance,
      },
      {
        target: `${concurrency} at once, without headers: at most one refusal a window`,
        measured: String(maxRefused),
        isMet: maxRefused <= 1,
      },
    ],
  };
}

async function tallyDays(options: SandboxOptions, random: Random): Promise<Tally> {
  const folder = await makeTemporaryFolder();
  await using sandbox = await startSandbox({ ...catalogue, allowance, ...options });
  const urls = Array.from(sandbox.truth(), ({ url }) => url);
  const etags = new Map<string, string | null>();
  const tally: Tally = { sent: 0, counted: 0, refused: 0, maxRefused: 0, maxSpent: 0 };
  try {
    for (let day = 0; day < days; day++) {
      // A new file now and then, since a ledger without history decides differently.
      const ledgerFile = join(folder, `${Math.floor(day / daysPerLedger)}.sqlite`);
      const delay = () => ({
        ...delayed,
        every: 1 + random.integer(4),
        millis: 1 + random.integer(maxDelayMillis),
      });
      sandbox.setFaults([delay(), delay()]);
      await spendDay(sandbox, ledgerFile, random, async (client) => {
        const url = random.pick(urls);
        const etag = random.chance(0.5) ? (etags.get(url) ?? null) : null;
        const fetched = await client.fetch({ url, etag });
        if (fetched.outcome === "body") etags.set(url, fetched.etag);
      });
      const log = sandbox.log();
      sandbox.clearLog();
      sandbox.moveClock({ advanceSeconds: daySeconds });
      const [counted, refused] = [countCounted(log), countRefused(log)];
      tally.sent += log.length;
      tally.counted += counted;
      tally.refused += refused;
      tally.maxRefused = Math.max(tally.maxRefused, refused);
      tally.maxSpent = Math.max(tally.maxSpent, counted + refused);
    }
    return tally;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sends requests concurrently from several runs that share a ledger, until the day's allowance is spent. */
async function spendDay(
  sandbox: Sandbox,
  ledgerFile: string,
  random: Random,
  fetchOne: (client: ServiceClient) => Promise<void>,
): Promise<void> {
  const clock: Clock = {
    now: () => sandbox.now().getTime(),
    random: () => random.next(),
    sleep: async () => void (await pause(1)),
  };
  const runs = await Promise.all(
    Array.from({ length: 1 + random.integer(maxRuns) }, () =>
      openRateLimitedClient({
        ...{ baseUrl: sandbox.url, credential: null, ledgerFile, budget: null, reserve: 0 },
        ...{ connections: concurrency, clock },
      }),
    ),
  );
  const fetchUntilSpent = async (client: ServiceClient) => {
    try {
      for (;;) await fetchOne(client);
    } catch (error) {
      if (!(error instanceof ServiceError && error.next === "stop-allowance")) throw error;
    }
  };
  try {
    await Promise.all(
      Array.from({ length: concurrency }, (_, index) => {
        const run = runs[index % runs.length];
        return run === undefined ? null : fetchUntilSpent(run.client);
      }),
    );
  } finally {
    for (const run of runs) await run.close();
  }
}
