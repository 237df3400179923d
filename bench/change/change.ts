/** History: what a year of it costs, and how fast it is queried. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { printFindings } from "../aim.ts";
import { makeFolder } from "../folder.ts";
import { benchDiff, plainCopies } from "./diff.ts";
import { benchExport } from "./export.ts";
import { benchIngest } from "./ingest.ts";
import { months } from "./months.ts";
import { benchSearch } from "./search.ts";
import { benchSize } from "./size.ts";

export async function benchChange(print: (text: string) => void): Promise<void> {
  const folder = await makeFolder();
  const file = join(folder, "catalogue.sqlite");
  const copies = plainCopies(folder, months + 1);
  try {
    await printFindings(print, [
      () => benchIngest(file, join(folder, "forgetful.sqlite"), copies.keep),
      () => benchSize(file),
      () => benchDiff(file, folder, copies),
      () => benchExport(file, folder, months + 1),
      () => benchSearch(file, months + 1),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
