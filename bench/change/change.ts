/** The cost of a year of history, and the speed of queries of it. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { printResults } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { benchDiff, plainCopies } from "./diff.ts";
import { benchExport } from "./export.ts";
import { benchIngest } from "./ingest.ts";
import { months } from "./months.ts";
import { benchSearch } from "./search.ts";
import { benchSize } from "./size.ts";

export async function benchChange(print: (text: string) => void): Promise<void> {
  const folder = await makeTemporaryFolder();
  const file = join(folder, "catalogue.sqlite");
  const copies = plainCopies(folder, months + 1);
  try {
    await printResults(print, [
      () => benchIngest(file, join(folder, "without-history.sqlite"), copies.copyRun),
      () => benchSize(file),
      () => benchDiff(file, folder, copies),
      () => benchExport(file, folder, months + 1),
      () => benchSearch(file, months + 1),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
