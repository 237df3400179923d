/** Child processes that tests can kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** The next line of its stdout; null at its end. */
  readLine(): Promise<string | null>;
  /** Ends its stdin and waits for its exit. */
  end(): Promise<void>;
  /** Sends SIGKILL and waits for its exit. */
  kill(): Promise<void>;
}

const keepCompileCache = join(import.meta.dirname, "../../support/keep-compile-cache.ts");

/** @param script a file in this folder */
export function startChild(script: string, ...args: readonly string[]): Child {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--import", keepCompileCache, join(import.meta.dirname, script), ...args],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
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
