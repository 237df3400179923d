/** The cost of killing the process of a first crawl at random moments, as counted by the sandbox. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import type { LogEntry } from "../../src/sandbox/http/request-log.ts";
import { Random } from "../../src/sandbox/random.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import {
  concurrency,
  countCounted,
  countRefused,
  daySeconds,
  listResources,
  type Rig,
  startRig,
} from "./rig.ts";

const catalogue = { brands: 30, models: 250, sizes: 1_600 };
const kills = 40;
/** Long enough for several requests to be in flight at a kill. */
const latencyMillis = 2;
const script = new URL("daily-sync.ts", import.meta.url).pathname;

/** @param seed decides the moments of the kills */
export async function benchKills(seed: number): Promise<BenchmarkResult> {
  await using rig = await startRig({ ...catalogue, latencyMillis });
  const resources = listResources(rig.sandbox).length;
  const random = new Random(seed);
  const log: LogEntry[] = [];
  /** Requests whose responses were lost, and so are sent again. */
  let lost = 0;
  let maxLost = 0;
  let killed = 0;
  let days = 1;
  for (;;) {
    const killAfter = killed < kills ? 1 + random.integer((2 * resources) / kills) : Number.POSITIVE_INFINITY;
    const end = await runAndKill(rig, killAfter);
    log.push(...rig.sandbox.log());
    rig.sandbox.clearLog();
    if (end === "complete") break;
    if (end === "ended") {
      days++;
      rig.sandbox.moveClock({ advanceSeconds: daySeconds });
      continue;
    }
    killed++;
    const lostSoFar = countCounted(log) - countFetched(rig.file);
    maxLost = Math.max(maxLost, lostSoFar - lost);
    lost = lostSoFar;
  }
  const counted = countCounted(log);
  const limit = resources + killed * concurrency;
  return {
    title: `First crawl with kill -9, ${concurrency} requests at a time, seed ${seed}`,
    headings: ["resources", "days", "kills", "counted", "requested again", "per kill, at most", "refused"],
    rows: [
      [
        formatCount(resources),
        days,
        killed,
        formatCount(counted),
        counted - resources,
        maxLost,
        countRefused(log),
      ],
    ],
    targets: [
      {
        target: `${killed} kills: counted ≤ resources + in flight (${concurrency} at each)`,
        measured: `${formatCount(counted)} ≤ ${formatCount(limit)}`,
        isMet: counted <= limit,
      },
    ],
  };
}

/** @param killAfter number of requests after which the process is killed */
async function runAndKill(
  { file, sandbox }: Rig,
  killAfter: number,
): Promise<"killed" | "complete" | "ended"> {
  const aheadMillis = sandbox.now().getTime() - Date.now();
  const args = [script, file, sandbox.url, String(concurrency), String(aheadMillis)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const output = text(child.stdout);
  while (child.exitCode === null && child.signalCode === null) {
    if (sandbox.log().length >= killAfter) {
      child.kill("SIGKILL");
      break;
    }
    await pause(1);
  }
  await exited;
  if (child.signalCode !== null) return "killed";
  if (child.exitCode !== 0) throw new Error(`a sync ended with exit code ${child.exitCode}`);
  return (await output) === "complete\n" ? "complete" : "ended";
}

/** Fetched resources except the root, which is not counted. */
function countFetched(file: string): number {
  if (!existsSync(file)) return 0;
  const mirror = openMirrorReader(file);
  try {
    const fetched = mirror.db.prepare<[], number>(
      "select count(*) from _resource where state = 'held' and kind <> 'root'",
    );
    return fetched.pluck().get() ?? 0;
  } finally {
    mirror.close();
  }
}
