/** Child processes that may block: how the kernel ends them with their parent, and how the parent sees their memory. */
import { lstatSync, readFileSync } from "node:fs";

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
