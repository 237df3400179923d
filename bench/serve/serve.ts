/** What `armoire serve` sends, from a mirror of real size. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { mirrorRealCatalogue } from "../processes.ts";
import { printResults } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { benchApi } from "./api.ts";

export async function benchServe(print: (text: string) => void): Promise<void> {
  const folder = await makeTemporaryFolder();
  try {
    const file = join(folder, "catalogue.sqlite");
    await mirrorRealCatalogue(file);
    await printResults(print, [() => benchApi(file)]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
