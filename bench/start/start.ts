/** Start-up: `armoire --version`, built, against an empty Node program. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { formatTable } from "../../src/cli/terminal/text-table.ts";
import { median } from "../median.ts";

const rounds = 21;

export async function benchStart(print: (text: string) => void): Promise<void> {
  const program = new URL("../../src/cli/armoire.js", import.meta.url).pathname;
  if (!existsSync(new URL("../../dist", import.meta.url))) throw new Error("run `npm run build` first");
  const times: Record<string, number[]> = { "empty program": [], "armoire --version": [] };
  for (let round = 0; round < rounds; round++) {
    times["empty program"]?.push(timeMillis(["-e", ""]));
    times["armoire --version"]?.push(timeMillis([program, "--version"]));
  }
  const [empty = 1] = Object.values(times).map(median);
  const rows = Object.entries(times).map(([name, all]) => [
    name,
    median(all).toFixed(1),
    (median(all) / empty).toFixed(2),
  ]);
  print(formatTable(["program", "median ms", "ratio"], rows));
}

function timeMillis(args: readonly string[]): number {
  const startedAt = performance.now();
  execFileSync(process.execPath, [...args]);
  return performance.now() - startedAt;
}
