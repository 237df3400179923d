/** `npm run chaos`: a first sync of about five minutes, with a disturbance every few seconds. */
import { parseArgs } from "node:util";
import setUpInMemory from "../support/in-memory.ts";
import { runChaos } from "./run-chaos.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, sizes: { type: "string", default: "20000" } },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const removeFiles = setUpInMemory();
const say = (text: string) => void process.stdout.write(`${text}\n`);
try {
  say(`Chaos with seed ${seed}`);
  const {
    disturbances,
    requests,
    resources,
    maxRepeated: allowed,
    isSame,
    seconds,
  } = await runChaos({
    ...{ seed, maxMillisBetween: 6_000, maxMillisFrozen: 12_000, log: say },
    world: { seed: 3, brands: 200, models: 2_000, sizes: Number(values.sizes), latencyMillis: 100 },
  });
  for (const [what, times] of Object.entries(disturbances)) say(`${String(times).padStart(5)} × ${what}`);
  const extra = requests - resources;
  say(
    `${requests} requests for ${resources} resources in ${Math.round(seconds)} s: ${extra} more, ${allowed} may have been under way.`,
  );
  say(
    isSame
      ? "The mirror is that of an undisturbed sync."
      : "The mirror is ANOTHER than that of an undisturbed sync.",
  );
  if (!isSame || extra > allowed + 2) process.exitCode = 1;
} finally {
  removeFiles();
}
