/**
 * A service without ETags, where every check costs a request: a daily run in the default mode while the content changes
 * a little every day, compared with the minimum that keeps everything fresher than the max staleness.
 */
import { defaultMaxStalenessDays } from "../../src/sync/options.ts";
import { type Findings, formatCount } from "../aim.ts";
import { smallerWorld } from "./first-crawl.ts";
import { countCounted, daySeconds, startRig } from "./rig.ts";
import { compareWorlds, readWorldState } from "./world-state.ts";

const days = 45;
const generousAllowance = 20_000;

export async function benchWithoutEtags(): Promise<Findings> {
  await using rig = await startRig({ ...smallerWorld, etag: "none", allowance: generousAllowance });
  const askedOn = new Map<string, number>();
  const note = (day: number, log: readonly { readonly url: string }[]) => {
    for (const { url } of log) askedOn.set(url, day);
  };
  note(0, (await rig.runDay()).log);
  let before = readWorldState(rig.sandbox);
  const sums = { counted: 0, changed: 0, added: 0, swept: 0, owed: 0 };
  for (let day = 1; day <= days; day++) {
    rig.sandbox.advance();
    const after = readWorldState(rig.sandbox);
    const { changed, added } = compareWorlds(before, after);
    before = after;
    const swept = [...after.keys()].filter((url) => isOverdue(askedOn.get(url), day));
    const { log } = await rig.runDay();
    note(day, log);
    sums.counted += countCounted(log);
    sums.changed += changed.length;
    sums.added += added.length;
    sums.swept += swept.length;
    sums.owed += new Set([...changed, ...added, ...swept]).size;
  }
  const ratio = sums.counted / sums.owed;
  return {
    title: `Without ETags, ${days} days after the crawl of ${formatCount(before.size)} resources, sweep ${defaultMaxStalenessDays} days`,
    headings: ["counted", "changed", "new", "older than the sweep", "any of them", "ratio"],
    rows: [[...Object.values(sums).map(formatCount), ratio.toFixed(3)]],
    aims: [
      {
        aim: "without ETags: counted ÷ (changed + new + swept) ≤ 1.25",
        reached: ratio.toFixed(3),
        isReached: ratio <= 1.25,
      },
    ],
  };
}

function isOverdue(askedOn: number | undefined, day: number): boolean {
  return askedOn !== undefined && (day - askedOn) * daySeconds >= defaultMaxStalenessDays * 86_400;
}
