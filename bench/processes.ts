/** The processes of benchmarks: the program, a sandbox, and the compared programs, which measure themselves. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { openMirrorReader } from "../src/mirror/reader.ts";
import type { Measurement } from "./walk/measure.ts";

/** The launcher; it runs `dist/` if that is built. */
export const program = new URL("../src/cli/armoire.js", import.meta.url).pathname;

/** @param script its path; it prints its measurement */
export function contest(script: string, args: readonly string[]): Measurement {
  // Armoire runs with the Node flags of its launcher, the others with Node's defaults.
  const flags = script.endsWith("armoire-sync.ts") ? flagsOfCommand() : [];
  return JSON.parse(execFileSync(process.execPath, [...flags, script, ...args], { encoding: "utf8" }));
}

function flagsOfCommand(): readonly string[] {
  const [interpreter = ""] = readFileSync(program, "utf8").split("\n");
  return interpreter.match(/--\S+/g) ?? [];
}

/** The URLs that a mirror holds, a line each. */
export function heldUrls(mirror: string): string {
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
  const child = spawn(process.execPath, [program, "sandbox", "--json", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    return { url: (JSON.parse(line) as { url: string }).url, stop: () => child.kill() };
  }
  throw new Error("the sandbox did not start");
}
