/** What `armoire serve` sends, from a mirror of real size with a year of history. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readMirror } from "../../src/mirror/reader.ts";
import { printResults } from "../results.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";
import { benchApi } from "./api.ts";
import { benchBesideSync, benchPaint } from "./browser.ts";
import { benchPages } from "./pages.ts";
import { makeMirror, startService } from "./processes.ts";
import { benchStartOfServe } from "./start.ts";

export async function benchServe(print: (text: string) => void): Promise<void> {
  const folder = await makeTemporaryFolder();
  try {
    const file = join(folder, "catalogue.sqlite");
    await makeMirror(file);
    const service = await startService(readMirror(file, ({ identity }) => identity.baseUrl));
    try {
      await printResults(print, [
        () => benchStartOfServe(file),
        () => benchApi(file),
        () => benchPaint(file),
        () => benchBesideSync(file, folder),
        () => benchPages(file),
      ]);
    } finally {
      service.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
