/** The time of built commands on a mirror of real size, each in turn with an empty Node program. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { formatTable } from "../../src/cli/terminal/table/text-table.ts";
import { median } from "../median.ts";
import { armoire, mirrorRealCatalogue } from "../processes.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";

const rounds = 21;

export async function benchStart(print: (text: string) => void): Promise<void> {
  if (!existsSync(new URL("../../dist", import.meta.url))) throw new Error("run `npm run build` first");
  const folder = await makeTemporaryFolder();
  try {
    const mirror = join(folder, "catalogue.sqlite");
    await mirrorRealCatalogue(mirror);
    const commands: Readonly<Record<string, readonly string[]>> = {
      "empty program": ["-e", ""],
      "armoire --version": [armoire, "--version"],
      'armoire query "select 1"': [armoire, "query", "select 1", "--mirror", mirror],
      "armoire show <brand>": [armoire, "show", "brand", firstBrand(mirror), "--mirror", mirror],
      "armoire status": [armoire, "status", "--mirror", mirror],
    };
    const times = Object.entries(commands).map(([name, args]) => ({ name, args, millis: [] as number[] }));
    for (let round = 0; round < rounds; round++) {
      for (const { args, millis } of times) millis.push(timeMillis(args));
    }
    const empty = median(times[0]?.millis ?? []);
    const rows = times.map(({ name, millis }) => [
      name,
      median(millis).toFixed(1),
      (median(millis) / empty).toFixed(2),
    ]);
    print(formatTable(["program", "median ms", "ratio"], rows));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function firstBrand(mirror: string): string {
  const sql = "select href from brand limit 1";
  const [{ href }]: [{ href: string }] = JSON.parse(
    run([armoire, "query", sql, "--json", "--mirror", mirror]),
  );
  return href;
}

const run = (args: readonly string[]) => execFileSync(process.execPath, [...args], { encoding: "utf8" });

function timeMillis(args: readonly string[]): number {
  const startedAt = performance.now();
  run(args);
  return performance.now() - startedAt;
}
