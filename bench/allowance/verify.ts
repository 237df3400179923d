/** The cost of `--mode verify` over a whole mirror: first without changes, then after some. */
import type { LogEntry } from "../../src/sandbox/http/request-log.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import { compareDigests, readDigests } from "./catalogue-digests.ts";
import { countCounted, type Rig } from "./rig.ts";

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
