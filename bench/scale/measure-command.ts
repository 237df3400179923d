/** What a whole command of the built program takes, with the processes that it starts. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { armoire, readLauncherFlags, readLauncherVariables } from "../processes.ts";

export interface CommandCost {
  /** Of the processor. */
  readonly seconds: number;
  readonly peakMebibytes: number;
}

const printPeak = new URL("../print-peak.js", import.meta.url).href;

/** @throws Error if the command fails */
export async function measureCommand(args: readonly string[]): Promise<CommandCost> {
  const program = [process.execPath, ...readLauncherFlags(), "--import", printPeak, armoire, ...args];
  // Bash reports the processor time of one child and of all that it started; Node only its own.
  const child = spawn("bash", ["-c", 'TIMEFORMAT="%U %S"; time "$@"', "bash", ...program], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    env: { ...process.env, ...readLauncherVariables() },
  });
  const [, errors, peaks] = child.stdio.slice(1) as NodeJS.ReadableStream[];
  if (errors === undefined || peaks === undefined) throw new Error("the command has no output");
  const [errorText, peakText, [code]] = await Promise.all([text(errors), text(peaks), once(child, "close")]);
  if (code !== 0) throw new Error(`armoire ${args.join(" ")} ended with ${code}: ${errorText}`);
  const [user = 0, system = 0] = (errorText.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return { seconds: user + system, peakMebibytes: Number(peakText) };
}
