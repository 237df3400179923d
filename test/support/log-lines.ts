/** The log lines of a running program, as objects. */
import { createInterface } from "node:readline";
import type { RunningArmoire } from "./run-armoire.ts";

export async function* logLines({ process }: RunningArmoire): AsyncGenerator<Record<string, unknown>> {
  for await (const line of createInterface(process.stderr)) yield JSON.parse(line);
}
