/** What shared snapshots cost and save, with a catalogue of real size. */
import { copyFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { mirrorRealCatalogue } from "../processes.ts";
import { printResults } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { benchArchive } from "./archive.ts";
import { benchDays } from "./days.ts";

export async function benchSnapshot(print: (text: string) => void): Promise<void> {
  const folder = await makeTemporaryFolder();
  try {
    const mirror = join(folder, "catalogue.sqlite");
    const { BENCH_MIRROR: made } = process.env;
    if (made === undefined) await mirrorRealCatalogue(mirror);
    else copyFileSync(made, mirror);
    await printResults(print, [() => benchArchive(mirror, folder), benchDays]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
