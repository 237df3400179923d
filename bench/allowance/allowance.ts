/**
 * Living with a small allowance: what a first crawl, a verification and a day cost by the sandbox's count, and how soon the
 * mirror is worth how much. By the sandbox's clock, so that months pass in minutes. All of it follows from seeds, but for
 * the moments of kills and the interleavings, whose seed is printed; `ARMOIRE_BENCH_SEED` gives the same one again.
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
