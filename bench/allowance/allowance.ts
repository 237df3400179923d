/**
 * Syncing with a small allowance: the requests of a first crawl, a verification and a day, as counted by the sandbox, and
 * how coverage grows. The sandbox's clock makes months pass in minutes. Everything is derived from seeds except the
 * moments of kills and the interleavings, whose seed is printed; `ARMOIRE_BENCH_SEED` sets it.
 */
import { printFindings } from "../aim.ts";
import { benchCoverage } from "./coverage.ts";
import { benchFirstCrawl } from "./first-crawl.ts";
import { benchInterleavings } from "./interleavings.ts";
import { benchKills } from "./kills.ts";
import { startRig } from "./rig.ts";
import { benchVerify } from "./verify.ts";
import { benchWithoutEtags } from "./without-etags.ts";

export async function benchAllowance(print: (text: string) => void): Promise<void> {
  const seed = Number(process.env.ARMOIRE_BENCH_SEED ?? Math.floor(Math.random() * 2 ** 31));
  await using real = await startRig({ preset: "real" });
  await printFindings(print, [
    () => benchInterleavings(seed),
    () => benchKills(seed),
    benchWithoutEtags,
    benchCoverage,
    () => benchFirstCrawl(real),
    () => benchVerify(real),
  ]);
}
