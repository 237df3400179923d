/** Change over time: what a year of history costs, and how soon it answers. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { printFindings } from "../aim.ts";
import { makeFolder } from "../allowance/rig.ts";
import { benchIngest } from "./ingest.ts";

export async function benchChange(print: (text: string) => void): Promise<void> {
  const folder = await makeFolder();
  try {
    const file = join(folder, "catalogue.sqlite");
    await printFindings(print, [() => benchIngest(file, join(folder, "forgetful.sqlite"))]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
