/** Runs the `armoire` program in a process of its own, with settings in the environment. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { armoireProgram } from "../../support/armoire-program.ts";

export interface Program {
  /** Runs a command in this terminal, with progress. @throws Error if it fails */
  run(...args: string[]): Promise<void>;
  /** Runs a command with `--json` and parses its output. @throws Error if it fails */
  readJson<Output>(...args: string[]): Promise<Output>;
}

/** @param settings `ARMOIRE_…` variables, which replace all those of this process */
export function program(settings: Readonly<Record<string, string>>): Program {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ARMOIRE_"));
  const env = { ...Object.fromEntries(own), ...settings };
  return {
    async run(...args) {
      const child = spawn(process.execPath, [armoireProgram, ...args], { env, stdio: "inherit" });
      await succeed(args, once(child, "close"));
    },
    async readJson<Output>(...args: string[]) {
      const child = spawn(process.execPath, [armoireProgram, ...args, "--json"], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [output] = await Promise.all([text(child.stdout), succeed(args, once(child, "close"))]);
      return JSON.parse(output) as Output;
    },
  };
}

async function succeed(args: readonly string[], closed: Promise<unknown[]>): Promise<void> {
  const [code, signal] = await closed;
  if (code !== 0) throw new Error(`armoire ${args.join(" ")} ended with ${code ?? signal}`);
}
