/** The first crawl, by a run a day until everything is held: what it costs, by the sandbox's count. */
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import type { SyncOptions } from "../../src/sync/sync.ts";
import { type Aim, type Findings, formatCount } from "../aim.ts";
import { countCounted, countRefused, dailyAllowance, listResources, type Rig, startRig } from "./rig.ts";

/** A tenth of the real one or less: for what needs no more. */
export const smallerWorld = { brands: 60, models: 800, sizes: 5_200 };
const mostDays = 1_000;
const withoutRateLimit = [
  { kind: "root", fault: "remove", pointer: "/links/rate_limit", times: "always" },
] as const;

interface Crawl {
  readonly name: string;
  readonly resources: number;
  readonly days: number;
  readonly counted: number;
  readonly refused: number;
  readonly mostRefusedInADay: number;
  readonly millisPerDay: number;
}

interface Variant {
  readonly name: string;
  readonly sandbox: SandboxOptions;
  readonly sync?: Partial<SyncOptions>;
  /** Whether the service tells what is left, so that nothing need be refused. */
  readonly isTold: boolean;
}

const variants: readonly Variant[] = [
  { name: "reset in seconds", sandbox: { allowanceHeaders: "seconds" }, isTold: true },
  { name: "16 at a time", sandbox: {}, sync: { concurrency: 16 }, isTold: true },
  { name: "order breadth", sandbox: {}, sync: { order: "breadth" }, isTold: true },
  { name: "order depth", sandbox: {}, sync: { order: "depth" }, isTold: true },
  { name: "the root is counted", sandbox: { countRoot: true }, isTold: true },
  { name: "no ETags", sandbox: { etag: "none" }, isTold: true },
  { name: "no headers, only rate_limit", sandbox: { allowanceHeaders: "none" }, isTold: true },
  {
    name: "neither headers nor rate_limit",
    sandbox: { allowanceHeaders: "none", faults: withoutRateLimit },
    isTold: false,
  },
  {
    name: "304 counted, nothing told",
    sandbox: { countNotModified: true, allowanceHeaders: "none", faults: withoutRateLimit },
    isTold: false,
  },
];

/** @param rig of the real size; holds everything afterwards */
export async function benchFirstCrawl(rig: Rig): Promise<Findings> {
  const real = await crawlDaily("real size", rig, {});
  const crawls = [real];
  const aims: Aim[] = [
    {
      aim: "first crawl: counted ÷ resources = 1.000",
      reached: (real.counted / real.resources).toFixed(3),
      isReached: real.counted === real.resources,
    },
    {
      aim: "first crawl, with headers: no refusal",
      reached: String(real.refused),
      isReached: real.refused === 0,
    },
  ];
  for (const { name, sandbox, sync = {}, isTold } of variants) {
    await using smaller = await startRig({ ...smallerWorld, ...sandbox });
    const crawl = await crawlDaily(name, smaller, sync);
    crawls.push(crawl);
    if (isTold) continue;
    aims.push({
      aim: `first crawl, ${name}: at most one refusal a window`,
      reached: String(crawl.mostRefusedInADay),
      isReached: crawl.mostRefusedInADay <= 1,
    });
  }
  return {
    title: `First crawl, ${dailyAllowance} a day, a run a day`,
    headings: ["crawl", "resources", "days", "counted", "÷ resources", "refused", "most a day", "ms a day"],
    rows: crawls.map((crawl) => [
      crawl.name,
      formatCount(crawl.resources),
      crawl.days,
      formatCount(crawl.counted),
      (crawl.counted / crawl.resources).toFixed(3),
      crawl.refused,
      crawl.mostRefusedInADay,
      Math.round(crawl.millisPerDay),
    ]),
    aims,
  };
}

/** Until each resource has been fetched; whether what was fetched first is to be checked again by then is another matter. */
async function crawlDaily(name: string, rig: Rig, options: Partial<SyncOptions>): Promise<Crawl> {
  const missing = new Set(listResources(rig.sandbox));
  const resources = missing.size;
  const startedAt = performance.now();
  const sums = { counted: 0, refused: 0, mostRefusedInADay: 0 };
  for (let days = 1; days <= mostDays; days++) {
    const { log } = await rig.runDay(options);
    for (const { url, counted, status } of log) if (counted && status === 200) missing.delete(url);
    const refused = countRefused(log);
    sums.counted += countCounted(log);
    sums.refused += refused;
    sums.mostRefusedInADay = Math.max(sums.mostRefusedInADay, refused);
    if (missing.size > 0) continue;
    return { name, resources, days, ...sums, millisPerDay: (performance.now() - startedAt) / days };
  }
  throw new Error(`${name}: not everything fetched after ${mostDays} days`);
}
