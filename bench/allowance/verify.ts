/**
 * The cost of finding changes: of `--mode verify` over a whole mirror, first without changes, then after some; and of daily
 * runs on a service without ETags, where every check costs a request.
 */
import { hash } from "node:crypto";
import type { LogEntry } from "../../src/sandbox/http/request-log.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { defaultMaxStalenessDays } from "../../src/sync/options.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import { smallCatalogue } from "./first-crawl.ts";
import { countCounted, daySeconds, type Rig, startRig } from "./rig.ts";

const advance = { changes: 200, additions: 50, removals: 20, moves: 30 };
const maxDays = 50;

/** @param rig has a complete mirror */
export async function benchVerify(rig: Rig): Promise<BenchmarkResult> {
  const before = readDigests(rig.sandbox);
  const unchanged = await verify(rig);
  rig.sandbox.advance(advance);
  const { changed, added, removed } = compareDigests(before, readDigests(rig.sandbox));
  const afterChanges = await verify(rig);
  const required = changed.length + added.length;
  const ratio = countCounted(afterChanges.log) / required;
  const gone = afterChanges.log.filter(({ status }) => status === 404).length;
  const row = (name: string, { days, log }: Verification, changes: readonly unknown[]) => [
    name,
    days,
    formatCount(log.length),
    formatCount(countCounted(log)),
    ...changes,
  ];
  return {
    title: `--mode verify, ${formatCount(before.size)} resources`,
    headings: [
      "since the last run",
      "days",
      "sent",
      "counted",
      "changed",
      "new",
      "gone",
      "404",
      "÷ (changed + new)",
    ],
    rows: [
      row("nothing", unchanged, [0, 0, 0, 0, ""]),
      row(describe(advance), afterChanges, [
        changed.length,
        added.length,
        removed.length,
        gone,
        ratio.toFixed(3),
      ]),
    ],
    targets: [
      {
        target: "verify, nothing changed: nothing counted",
        measured: String(countCounted(unchanged.log)),
        isMet: countCounted(unchanged.log) === 0,
      },
      {
        target: "verify, after changes: counted ÷ (changed + new) ≤ 1.02",
        measured: ratio.toFixed(3),
        isMet: ratio <= 1.02,
      },
    ],
  };
}

interface Verification {
  readonly days: number;
  readonly log: readonly LogEntry[];
}

async function verify(rig: Rig): Promise<Verification> {
  const log: LogEntry[] = [];
  for (let days = 1; days <= maxDays; days++) {
    const day = await rig.runDay({ mode: "verify" });
    for (const entry of day.log) log.push(entry);
    if (day.report.stopped === null && day.report.resources.pending === 0) return { days, log };
  }
  throw new Error(`not verified after ${maxDays} days`);
}

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}

const daysWithoutEtags = 45;
const generousAllowance = 20_000;

/**
 * A daily run in the default mode while some content changes every day, compared with the fewest requests that keep each
 * resource fresher than `--max-staleness`.
 */
export async function benchWithoutEtags(): Promise<BenchmarkResult> {
  await using rig = await startRig({ ...smallCatalogue, etag: "none", allowance: generousAllowance });
  const requestedOn = new Map<string, number>();
  const record = (day: number, log: readonly { readonly url: string }[]) => {
    for (const { url } of log) requestedOn.set(url, day);
  };
  record(0, (await rig.runDay()).log);
  let before = readDigests(rig.sandbox);
  const sums = { counted: 0, changed: 0, added: 0, stale: 0, required: 0 };
  for (let day = 1; day <= daysWithoutEtags; day++) {
    rig.sandbox.advance();
    const after = readDigests(rig.sandbox);
    const { changed, added } = compareDigests(before, after);
    before = after;
    const stale = [...after.keys()].filter((url) => isStale(requestedOn.get(url), day));
    const { log } = await rig.runDay();
    record(day, log);
    sums.counted += countCounted(log);
    sums.changed += changed.length;
    sums.added += added.length;
    sums.stale += stale.length;
    sums.required += new Set([...changed, ...added, ...stale]).size;
  }
  const ratio = sums.counted / sums.required;
  return {
    title: `Without ETags, ${daysWithoutEtags} days after the crawl of ${formatCount(before.size)} resources, --max-staleness ${defaultMaxStalenessDays}d`,
    headings: ["counted", "changed", "new", "stale", "any of these", "ratio"],
    rows: [[...Object.values(sums).map(formatCount), ratio.toFixed(3)]],
    targets: [
      {
        target: "without ETags: counted ÷ (changed + new + stale) ≤ 1.25",
        measured: ratio.toFixed(3),
        isMet: ratio <= 1.25,
      },
    ],
  };
}

function isStale(requestedOn: number | undefined, day: number): boolean {
  return requestedOn !== undefined && (day - requestedOn) * daySeconds >= defaultMaxStalenessDays * 86_400;
}

/** Digests of bodies by URL. */
type CatalogueDigests = ReadonlyMap<string, string>;

/** URLs. */
interface CatalogueChanges {
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

function readDigests(sandbox: Sandbox): CatalogueDigests {
  const digests = new Map<string, string>();
  for (const { url, body } of sandbox.truth()) digests.set(url, hash("sha1", JSON.stringify(body), "base64"));
  return digests;
}

function compareDigests(before: CatalogueDigests, after: CatalogueDigests): CatalogueChanges {
  const changed: string[] = [];
  const added: string[] = [];
  for (const [url, digest] of after) {
    const earlier = before.get(url);
    if (earlier === undefined) added.push(url);
    else if (earlier !== digest) changed.push(url);
  }
  return { changed, added, removed: [...before.keys()].filter((url) => !after.has(url)) };
}
