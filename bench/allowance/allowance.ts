/**
 * Syncs with a small allowance: the requests of a first crawl, of a verification and of daily runs, as counted by the
 * sandbox, and the growth of coverage. The sandbox's clock makes months pass in minutes. Fixed seeds decide everything
 * except kills and interleavings; their seed is random, is printed, and can be set with `ARMOIRE_BENCH_SEED`.
 */
import { printResults } from "../results.ts";
import { benchCoverage } from "./coverage.ts";
import { benchFirstCrawl } from "./first-crawl.ts";
import { benchInterleavings } from "./interleavings.ts";
import { benchKills } from "./kills.ts";
import { startRig } from "./rig.ts";
import { benchVerify, benchWithoutEtags } from "./verify.ts";

export async function benchAllowance(print: (text: string) => void): Promise<void> {
  const seed = Number(process.env.ARMOIRE_BENCH_SEED ?? Math.floor(Math.random() * 2 ** 31));
  await using real = await startRig({ preset: "real" });
  await printResults(print, [
    () => benchInterleavings(seed),
    () => benchKills(seed),
    benchWithoutEtags,
    benchCoverage,
    () => benchFirstCrawl(real),
    () => benchVerify(real),
  ]);
}
