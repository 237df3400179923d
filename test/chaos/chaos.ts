/**
 * `npm run chaos`: first syncs of about five minutes, with a disturbance every few seconds. With `--minutes`, one after the
 * other until that time has passed.
 */
import { parseArgs } from "node:util";
import setUpInMemory from "../support/in-memory.ts";
import { runChaos } from "./run-chaos.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    sizes: { type: "string", default: "20000" },
    workers: { type: "string", default: "4" },
    minutes: { type: "string", default: "0" },
  },
});
const removeFiles = setUpInMemory();
const log = (text: string) => void process.stdout.write(`${text}\n`);
const total: Record<string, number> = {};
const startedAt = performance.now();
const hasTime = () => performance.now() - startedAt < Number(values.minutes) * 60_000;
let seed = Number(values.seed ?? Date.now() % 2 ** 31);
try {
  do {
    log(`Chaos with seed ${seed}`);
    const { disturbances, requests, resources, maxRepeated, isSame, seconds } = await runChaos({
      ...{ seed, maxMillisBetween: 6_000, maxMillisFrozen: 12_000, log },
      workers: Number(values.workers),
      world: { seed: 3, brands: 200, models: 2_000, sizes: Number(values.sizes), latencyMillis: 100 },
    });
    for (const [name, count] of Object.entries(disturbances)) {
      log(`${String(count).padStart(5)} × ${name}`);
      total[name] = (total[name] ?? 0) + count;
    }
    const extra = requests - resources;
    log(
      `${requests} requests for ${resources} resources in ${Math.round(seconds)} s: ${extra} repeated, of at most ${maxRepeated} that were running.`,
    );
    log(
      isSame
        ? "The mirror is that of an undisturbed sync."
        : "The mirror DIFFERS from that of an undisturbed sync.",
    );
    if (!isSame || extra > maxRepeated + 2) process.exitCode = 1;
    seed++;
  } while (process.exitCode === undefined && hasTime());
  log(
    `In all: ${Object.entries(total)
      .map(([name, count]) => `${count} × ${name}`)
      .join(", ")}`,
  );
} finally {
  removeFiles();
}
