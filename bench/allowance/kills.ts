/** The first crawl by processes that are killed at random moments: what that costs, by the sandbox's count. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import type { LogEntry } from "../../src/sandbox/http/request-log.ts";
import { Random } from "../../src/sandbox/random.ts";
import { type Findings, formatCount } from "../aim.ts";
import {
  concurrency,
  countCounted,
  countRefused,
  daySeconds,
  listResources,
  type Rig,
  startRig,
} from "./rig.ts";

const world = { brands: 30, models: 250, sizes: 1_600 };
const kills = 40;
/** Long enough for several requests to be under way at a kill. */
const latencyMillis = 2;
const script = new URL("daily-sync.ts", import.meta.url).pathname;

/** @param seed for the moments of the kills */
export async function benchKills(seed: number): Promise<Findings> {
  await using rig = await startRig({ ...world, latencyMillis });
  const resources = listResources(rig.sandbox).length;
  const random = new Random(seed);
  const log: LogEntry[] = [];
  let lost = 0;
  let mostLost = 0;
  let killed = 0;
  let days = 1;
  for (;;) {
    const wanted = killed < kills ? 1 + random.integer((2 * resources) / kills) : Number.POSITIVE_INFINITY;
    const end = await runAndKill(rig, wanted);
    log.push(...rig.sandbox.log());
    rig.sandbox.clearLog();
    if (end === "complete") break;
    if (end === "ended") {
      days++;
      rig.sandbox.moveClock({ advanceSeconds: daySeconds });
      continue;
    }
    killed++;
    const lostByNow = countCounted(log) - countHeld(rig.file);
    mostLost = Math.max(mostLost, lostByNow - lost);
    lost = lostByNow;
  }
  const counted = countCounted(log);
  const most = resources + killed * concurrency;
  return {
    title: `First crawl with kill -9, ${concurrency} requests at a time, seed ${seed}`,
    headings: ["resources", "days", "kills", "counted", "asked again", "most by one kill", "refused"],
    rows: [
      [
        formatCount(resources),
        days,
        killed,
        formatCount(counted),
        counted - resources,
        mostLost,
        countRefused(log),
      ],
    ],
    aims: [
      {
        aim: `${killed} kills: counted ≤ resources + in flight (${concurrency} at each)`,
        reached: `${formatCount(counted)} ≤ ${formatCount(most)}`,
        isReached: counted <= most,
      },
    ],
  };
}

/** @param wanted requests after which it is killed */
async function runAndKill({ file, sandbox }: Rig, wanted: number): Promise<"killed" | "complete" | "ended"> {
  const aheadMillis = sandbox.now().getTime() - Date.now();
  const args = [script, file, sandbox.url, String(concurrency), String(aheadMillis)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const said = text(child.stdout);
  while (child.exitCode === null && child.signalCode === null) {
    if (sandbox.log().length >= wanted) {
      child.kill("SIGKILL");
      break;
    }
    await pause(1);
  }
  await exited;
  if (child.signalCode !== null) return "killed";
  if (child.exitCode !== 0) throw new Error(`a sync ended with exit code ${child.exitCode}`);
  return (await said) === "complete\n" ? "complete" : "ended";
}

/** Resources that the mirror holds, but for the front page, which is not counted. */
function countHeld(file: string): number {
  if (!existsSync(file)) return 0;
  const mirror = openMirrorReader(file);
  try {
    const held = mirror.db.prepare<[], number>(
      "select count(*) from _resource where state = 'held' and kind <> 'root'",
    );
    return held.pluck().get() ?? 0;
  } finally {
    mirror.close();
  }
}
