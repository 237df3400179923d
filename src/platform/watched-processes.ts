/** Child processes: errors at their start, their end, also together with their parent, and their memory. */
import { type EventEmitter, once } from "node:events";
import { lstatSync, readFileSync } from "node:fs";

export interface ChildProcess extends EventEmitter {
  readonly pid?: number | undefined;
  kill(signal: NodeJS.Signals): boolean;
}

/**
 * Why a process was not started, such as EMFILE. It may have neither channel nor streams then.
 * @returns null if it was started
 */
export async function startErrorOf(child: ChildProcess): Promise<Error | null> {
  if (child.pid !== undefined) return null;
  const [error] = await once(child, "error");
  return error;
}

/** The `kill` of a process that was not started can signal the caller's own group, or any other process. */
export function endProcess(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) child.kill(signal);
}

/** Of util-linux, which nearly every Linux has. */
const setpriv = "/usr/bin/setpriv";

/**
 * A thread in the child could do all of this as well, but takes as long to start as a process.
 * @returns the path of the program that lets the kernel end a process with its parent; null where there is none
 */
export function findSetpriv(): string | null {
  if (process.platform !== "linux") return null;
  // BusyBox's, a link, cannot do this.
  return lstatSync(setpriv, { throwIfNoEntry: false })?.isFile() ? setpriv : null;
}

/** @returns 0 for a process that has ended. Only on Linux. */
export function readMemoryBytes(processId: number): number {
  try {
    const status = readFileSync(`/proc/${processId}/status`, "utf8");
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
