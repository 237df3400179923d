/**
 * What shared snapshots cost and save, with a catalogue of real size; of BENCH_PART=archive only the commands on one file, of
 * BENCH_PART=days only the days that they save. BENCH_MIRROR is a mirror to copy instead of a crawl.
 */
import { copyFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { mirrorRealCatalogue } from "../processes.ts";
import { type BenchmarkResult, printResults } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { benchArchive } from "./archive.ts";
import { benchDays } from "./days.ts";

export async function benchSnapshot(print: (text: string) => void): Promise<void> {
  const folder = await makeTemporaryFolder();
  try {
    const { BENCH_PART: part } = process.env;
    const parts = { archive: () => measureArchive(folder), days: benchDays };
    await printResults(
      print,
      Object.entries(parts).flatMap(([name, measure]) =>
        part === undefined || part === name ? [measure] : [],
      ),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureArchive(folder: string): Promise<BenchmarkResult> {
  const mirror = join(folder, "catalogue.sqlite");
  const { BENCH_MIRROR: made } = process.env;
  if (made === undefined) await mirrorRealCatalogue(mirror);
  else copyFileSync(made, mirror);
  return benchArchive(mirror, folder);
}
