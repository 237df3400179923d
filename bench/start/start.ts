/**
 * The processor time of built commands on a mirror of real size, each in turn with an empty Node program. It includes that
 * of processes that a command starts, and depends less than the elapsed time on what else the machine does.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { formatTable } from "../../src/cli/terminal/table/text-table.ts";
import { median } from "../median.ts";
import { armoire, mirrorRealCatalogue, readLauncherFlags } from "../processes.ts";
import { makeTemporaryFolder } from "../temporary-folder.ts";

const rounds = 21;

export async function benchStart(print: (text: string) => void): Promise<void> {
  if (!existsSync(new URL("../../dist", import.meta.url))) throw new Error("run `npm run build` first");
  const folder = await makeTemporaryFolder();
  try {
    const mirror = join(folder, "catalogue.sqlite");
    await mirrorRealCatalogue(mirror);
    const [key = "", name = ""] = firstBrand(mirror);
    const on = ["--mirror", mirror];
    const commands: Readonly<Record<string, readonly string[]>> = {
      "empty program": ["-e", ""],
      "armoire --version": [...launcher, "--version"],
      'armoire query "select 1"': [...launcher, "query", "select 1", ...on],
      "armoire show brand KEY": [...launcher, "show", "brand", key, ...on],
      "armoire search NAME": [...launcher, "search", name, ...on],
      "armoire status": [...launcher, "status", ...on],
      "armoire plan": [...launcher, "plan", ...on],
    };
    const times = Object.entries(commands).map(([title, args]) => ({ title, args, millis: [] as number[] }));
    // The first run of each fills caches.
    for (let round = -1; round < rounds; round++)
      for (const { args, millis } of times) {
        const taken = processorMillis(args);
        if (round >= 0) millis.push(taken);
      }
    const empty = times[0]?.millis ?? [];
    const rows = times.map(({ title, millis }) => [
      title,
      median(millis).toFixed(0),
      median(millis.map((taken, round) => taken / (empty[round] ?? Number.NaN))).toFixed(2),
    ]);
    print(formatTable(["program", "median ms of processor", "ratio"], rows));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const launcher = [...readLauncherFlags(), armoire];

/** Its key and its name. */
function firstBrand(mirror: string): string[] {
  const sql =
    "select k.key, b.name from resource_key k join brand b on b.href = k.href where b.gone_at is null limit 1";
  const args = [...launcher, "query", sql, "--json", "--mirror", mirror];
  const [{ key, name }]: [{ key: string; name: string }] = JSON.parse(
    execFileSync(process.execPath, args, { encoding: "utf8" }),
  );
  return [key, name];
}

/** User and system time of a program and of all that it started. Bash prints it, for Node only knows its own. */
function processorMillis(args: readonly string[]): number {
  const script = 'TIMEFORMAT="%U %S"; { time "$@" > /dev/null 2>&1; } 2>&1';
  const printed = execFileSync("bash", ["-c", script, "bash", process.execPath, ...args], {
    encoding: "utf8",
  });
  return printed.split(" ").reduce((sum, seconds) => sum + Number(seconds) * 1000, 0);
}
