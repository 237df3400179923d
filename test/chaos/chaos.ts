/** `npm run chaos`: a first sync of about five minutes, with a disturbance every few seconds. */
import { parseArgs } from "node:util";
import setUpInMemory from "../support/in-memory.ts";
import { runChaos } from "./run-chaos.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, sizes: { type: "string", default: "20000" } },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const removeFiles = setUpInMemory();
const log = (text: string) => void process.stdout.write(`${text}\n`);
try {
  log(`Chaos with seed ${seed}`);
  const { disturbances, requests, resources, maxRepeated, isSame, seconds } = await runChaos({
    ...{ seed, maxMillisBetween: 6_000, maxMillisFrozen: 12_000, log },
    world: { seed: 3, brands: 200, models: 2_000, sizes: Number(values.sizes), latencyMillis: 100 },
  });
  for (const [name, count] of Object.entries(disturbances)) log(`${String(count).padStart(5)} × ${name}`);
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
} finally {
  removeFiles();
}
