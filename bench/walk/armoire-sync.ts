/**
 * `sync` of the published library: fetches, validates, stores durably and updates the tables. Arguments: base URL, mirror
 * file, concurrency.
 */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { printMeasurement } from "../measurement.ts";

// A variable, since TypeScript resolves literal paths and `dist/` exists only after a build.
const built: string = new URL("../../dist/index.js", import.meta.url).href;
const { sync } = (await import(built)) as typeof import("../../src/index.ts");

// The launcher sets it, too. Its other flag is an option of Node, which `measureScript` passes.
setFlagsFromString("--heap-growing-percent=80");

const [baseUrl = "", file = "", concurrency = "1"] = process.argv.slice(2);
const ledgerFile = join(dirname(file), "ledger.sqlite");
const files = [file, ledgerFile].flatMap((path) => [path, `${path}-wal`, `${path}-shm`]);
for (const leftover of files) rmSync(leftover, { force: true });

await printMeasurement(null, async () => {
  const report = await sync({ baseUrl, file, concurrency: Number(concurrency) });
  if (!report.complete) throw new Error(`not complete: ${JSON.stringify(report)}`);
  return report.resources.new;
});
