/** A command in a real terminal, made by `script`. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { armoireProgram } from "../../support/armoire-program.ts";

const run = promisify(execFile);

/** @param rows of the terminal, which has 80 columns @returns what the terminal shows */
export async function showInTerminal(
  args: readonly string[],
  { rows = 50, env = {} }: { readonly rows?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const words = [process.execPath, armoireProgram, ...args].map((word) => `'${word}'`).join(" ");
  const { stdout } = await run("script", ["-qc", `stty rows ${rows} cols 80; exec ${words}`, "/dev/null"], {
    env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent", TERM: "xterm", ...env },
  });
  return stdout;
}
