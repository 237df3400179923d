/** Processes of our own to be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** The next line of its stdout; null when it ended without one. */
  readLine(): Promise<string | null>;
  /** Lets it end by itself. */
  end(): Promise<void>;
  /** Ends it as a power cut would; resolves when it is no more. */
  kill(): Promise<void>;
}

/** @param script a file of this folder */
export function startChild(script: string, ...args: readonly string[]): Child {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error(`${script} did not start`);
  const exited = once(child, "exit");
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return {
    pid,
    async readLine() {
      const { done, value } = await lines.next();
      return done ? null : value;
    },
    async end() {
      stdin.end();
      await exited;
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
