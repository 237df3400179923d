/** `--mode verify` over a whole mirror: first nothing has changed, then the world has moved on. */
import type { LogEntry } from "../../src/sandbox/http/request-log.ts";
import { type Findings, formatCount } from "../aim.ts";
import { countCounted, type Rig } from "./rig.ts";
import { compareWorlds, readWorldState } from "./world-state.ts";

const advance = { changes: 200, additions: 50, removals: 20, moves: 30 };
const mostDays = 50;

/** @param rig whose mirror holds everything */
export async function benchVerify(rig: Rig): Promise<Findings> {
  const before = readWorldState(rig.sandbox);
  const quiet = await verify(rig);
  rig.sandbox.advance(advance);
  const { changed, added, removed } = compareWorlds(before, readWorldState(rig.sandbox));
  const busy = await verify(rig);
  const owed = changed.length + added.length;
  const ratio = countCounted(busy.log) / owed;
  const gone = busy.log.filter(({ status }) => status === 404).length;
  const row = (name: string, { days, log }: Verification, rest: readonly unknown[]) => [
    name,
    days,
    formatCount(log.length),
    formatCount(countCounted(log)),
    ...rest,
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
      row("nothing", quiet, [0, 0, 0, 0, ""]),
      row(describe(advance), busy, [changed.length, added.length, removed.length, gone, ratio.toFixed(3)]),
    ],
    aims: [
      {
        aim: "verify, nothing changed: nothing counted",
        reached: String(countCounted(quiet.log)),
        isReached: countCounted(quiet.log) === 0,
      },
      {
        aim: "verify, the world moved on: counted ÷ (changed + new) ≤ 1.02",
        reached: ratio.toFixed(3),
        isReached: ratio <= 1.02,
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
  for (let days = 1; days <= mostDays; days++) {
    const day = await rig.runDay({ mode: "verify" });
    for (const entry of day.log) log.push(entry);
    if (day.report.complete) return { days, log };
  }
  throw new Error(`not verified after ${mostDays} days`);
}

function describe(what: Readonly<Record<string, number>>): string {
  return Object.entries(what)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}
