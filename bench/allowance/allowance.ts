/**
 * Living with a small allowance: what a first crawl, a verification and a day cost by the sandbox's count, and how soon the
 * mirror is worth how much. By the sandbox's clock, so that months pass in minutes. All of it follows from seeds, but for
 * the moments of kills and the interleavings, whose seed is printed; `ARMOIRE_BENCH_SEED` gives the same one again.
 */
import { formatTable } from "../../src/cli/text-table.ts";
import type { Findings } from "./aim.ts";
import { benchCoverage } from "./coverage.ts";
import { benchFirstCrawl } from "./first-crawl.ts";
import { benchInterleavings } from "./interleavings.ts";
import { benchKills } from "./kills.ts";
import { startRig } from "./rig.ts";
import { benchVerify } from "./verify.ts";
import { benchWithoutEtags } from "./without-etags.ts";

export async function benchAllowance(print: (text: string) => void): Promise<void> {
  const seed = Number(process.env.ARMOIRE_BENCH_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const all: Findings[] = [];
  const report = async (measure: () => Promise<Findings>) => {
    const startedAt = performance.now();
    const findings = await measure();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    print(`${findings.title} (${seconds} s)\n\n${formatTable(findings.headings, findings.rows)}\n`);
    all.push(findings);
  };
  await report(() => benchInterleavings(seed));
  await report(() => benchKills(seed));
  await report(benchWithoutEtags);
  await report(benchCoverage);
  await using real = await startRig({ preset: "real" });
  await report(() => benchFirstCrawl(real));
  await report(() => benchVerify(real));
  const aims = all.flatMap((findings) => findings.aims);
  print(
    formatTable(
      ["aim", "reached", ""],
      aims.map(({ aim, reached, isReached }) => [aim, reached, isReached ? "yes" : "no"]),
    ),
  );
}
