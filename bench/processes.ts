/** Processes that benchmarks start: `armoire`, a sandbox, and the compared programs, which measure themselves. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { openMirrorReader } from "../src/mirror/reader.ts";
import type { Measurement } from "./measurement.ts";

/** The launcher; it runs `dist/` after a build. */
export const armoire = new URL("../src/cli/armoire.js", import.meta.url).pathname;

/** Runs the script at a path, which prints its measurement. */
export function measureScript(script: string, args: readonly string[]): Measurement {
  // Armoire runs with the flags and variables of its launcher, the others with the defaults.
  const isOwn = script.endsWith("armoire-sync.ts");
  const env = { ...process.env, ...(isOwn ? readLauncherVariables() : {}) };
  const flags = isOwn ? readLauncherFlags() : [];
  return JSON.parse(execFileSync(process.execPath, [...flags, script, ...args], { encoding: "utf8", env }));
}

/** With which the launcher starts Node. */
export function readLauncherFlags(): readonly string[] {
  const [shebang = ""] = readFileSync(armoire, "utf8").split("\n");
  return shebang.match(/--\S+/g) ?? [];
}

/** With which it starts itself again for a long command, unless they are set. That would close file descriptor 3. */
export const readLauncherVariables = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...readFileSync(armoire, "utf8").matchAll(/(MALLOC_\w+): "(\d+)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );

/** The URLs of all fetched resources of a mirror, one per line. */
export function listFetchedUrls(mirror: string): string {
  const reader = openMirrorReader(mirror);
  try {
    const urls = reader.db
      .prepare<[], string>("select url from _resource where state = 'held' order by id")
      .pluck();
    return `${urls.all().join("\n")}\n`;
  } finally {
    reader.close();
  }
}

export async function startSandboxProcess(
  flags: readonly string[],
): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [armoire, "sandbox", "--json", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    return { url: (JSON.parse(line) as { url: string }).url, stop: () => child.kill() };
  }
  throw new Error("the sandbox did not start");
}

/** Syncs a catalogue of real size from a sandbox. */
export async function mirrorRealCatalogue(mirror: string): Promise<void> {
  const sandbox = await startSandboxProcess(["--preset", "real", "--allowance", "none"]);
  try {
    const args = ["sync", "--base-url", sandbox.url, "--mirror", mirror, "--quiet"];
    execFileSync(process.execPath, [armoire, ...args]);
  } finally {
    sandbox.stop();
  }
}
