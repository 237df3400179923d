/**
 * A service without ETags, where every check costs a request: a daily run in the default mode while some content changes
 * every day, compared with the fewest requests that keep each resource fresher than `--max-staleness`.
 */
import { defaultMaxStalenessDays } from "../../src/sync/options.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import { compareDigests, readDigests } from "./catalogue-digests.ts";
import { smallCatalogue } from "./first-crawl.ts";
import { countCounted, daySeconds, startRig } from "./rig.ts";

const days = 45;
const generousAllowance = 20_000;

export async function benchWithoutEtags(): Promise<BenchmarkResult> {
  await using rig = await startRig({ ...smallCatalogue, etag: "none", allowance: generousAllowance });
  const requestedOn = new Map<string, number>();
  const record = (day: number, log: readonly { readonly url: string }[]) => {
    for (const { url } of log) requestedOn.set(url, day);
  };
  record(0, (await rig.runDay()).log);
  let before = readDigests(rig.sandbox);
  const sums = { counted: 0, changed: 0, added: 0, stale: 0, required: 0 };
  for (let day = 1; day <= days; day++) {
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
    title: `Without ETags, ${days} days after the crawl of ${formatCount(before.size)} resources, --max-staleness ${defaultMaxStalenessDays}d`,
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
