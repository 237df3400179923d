import { hasCode } from "./system-error.ts";

/** Whether this machine has such a process, as far as can be told. */
export function isProcessAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return hasCode(error, "EPERM");
  }
}
