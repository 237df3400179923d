/** The cost of a first crawl with one run a day, as counted by the sandbox. */
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import type { SyncOptions } from "../../src/sync/sync.ts";
import { type BenchmarkResult, formatCount, type Target } from "../results.ts";
import { countCounted, countRefused, dailyAllowance, listResources, type Rig, startRig } from "./rig.ts";

/** At most a tenth of the real size. */
export const smallCatalogue = { brands: 60, models: 800, sizes: 5_200 };
const maxDays = 1_000;
const withoutRateLimit = [
  { kind: "root", fault: "remove", pointer: "/links/rate_limit", times: "always" },
] as const;

interface Crawl {
  readonly name: string;
  readonly resources: number;
  readonly days: number;
  readonly counted: number;
  readonly refused: number;
  readonly maxRefusedPerDay: number;
  readonly millisPerDay: number;
}

interface Variant {
  readonly name: string;
  readonly sandbox: SandboxOptions;
  readonly sync?: Partial<SyncOptions>;
  /** Whether the service reports the remaining requests; without that, a run learns of the end by a refusal. */
  readonly reportsRemaining: boolean;
}

const variants: readonly Variant[] = [
  { name: "reset in seconds", sandbox: { allowanceHeaders: "seconds" }, reportsRemaining: true },
  { name: "16 at a time", sandbox: {}, sync: { concurrency: 16 }, reportsRemaining: true },
  { name: "order breadth", sandbox: {}, sync: { order: "breadth" }, reportsRemaining: true },
  { name: "order depth", sandbox: {}, sync: { order: "depth" }, reportsRemaining: true },
  { name: "the root is counted", sandbox: { countRoot: true }, reportsRemaining: true },
  { name: "no ETags", sandbox: { etag: "none" }, reportsRemaining: true },
  { name: "no headers, only rate_limit", sandbox: { allowanceHeaders: "none" }, reportsRemaining: true },
  {
    name: "neither headers nor rate_limit",
    sandbox: { allowanceHeaders: "none", faults: withoutRateLimit },
    reportsRemaining: false,
  },
  {
    name: "304 counted, nothing reported",
    sandbox: { countNotModified: true, allowanceHeaders: "none", faults: withoutRateLimit },
    reportsRemaining: false,
  },
];

/** @param rig has a catalogue of the real size, and a complete mirror afterwards */
export async function benchFirstCrawl(rig: Rig): Promise<BenchmarkResult> {
  const real = await crawlDaily("real size", rig, {});
  const crawls = [real];
  const targets: Target[] = [
    {
      target: "first crawl: counted ÷ resources = 1.000",
      measured: (real.counted / real.resources).toFixed(3),
      isMet: real.counted === real.resources,
    },
    {
      target: "first crawl, with headers: no refusal",
      measured: String(real.refused),
      isMet: real.refused === 0,
    },
  ];
  for (const { name, sandbox, sync = {}, reportsRemaining } of variants) {
    await using small = await startRig({ ...smallCatalogue, ...sandbox });
    const crawl = await crawlDaily(name, small, sync);
    crawls.push(crawl);
    if (reportsRemaining) continue;
    targets.push({
      target: `first crawl, ${name}: at most one refusal a window`,
      measured: String(crawl.maxRefusedPerDay),
      isMet: crawl.maxRefusedPerDay <= 1,
    });
  }
  return {
    title: `First crawl, ${dailyAllowance} a day, a run a day`,
    headings: [
      "crawl",
      "resources",
      "days",
      "counted",
      "÷ resources",
      "refused",
      "refused a day, at most",
      "ms a day",
    ],
    rows: crawls.map((crawl) => [
      crawl.name,
      formatCount(crawl.resources),
      crawl.days,
      formatCount(crawl.counted),
      (crawl.counted / crawl.resources).toFixed(3),
      crawl.refused,
      crawl.maxRefusedPerDay,
      Math.round(crawl.millisPerDay),
    ]),
    targets,
  };
}

/** Stops once each resource was fetched, even if the first ones are due for a check by then. */
async function crawlDaily(name: string, rig: Rig, options: Partial<SyncOptions>): Promise<Crawl> {
  const missing = new Set(listResources(rig.sandbox));
  const resources = missing.size;
  const startedAt = performance.now();
  const sums = { counted: 0, refused: 0, maxRefusedPerDay: 0 };
  for (let days = 1; days <= maxDays; days++) {
    const { log } = await rig.runDay(options);
    for (const { url, counted, status } of log) if (counted && status === 200) missing.delete(url);
    const refused = countRefused(log);
    sums.counted += countCounted(log);
    sums.refused += refused;
    sums.maxRefusedPerDay = Math.max(sums.maxRefusedPerDay, refused);
    if (missing.size > 0) continue;
    return { name, resources, days, ...sums, millisPerDay: (performance.now() - startedAt) / days };
  }
  throw new Error(`${name}: not everything fetched after ${maxDays} days`);
}
