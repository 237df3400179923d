import { closeSync, fsyncSync, openSync, writeFileSync } from "node:fs";

/** Writes a file that is not there yet, for its owner alone; durable when this returns, but for its name. @throws a system error */
export function writeNewFile(path: string, content: string | Uint8Array): void {
  // "wx" makes the file with its mode at once: there is no instant at which others could open it.
  const handle = openSync(path, "wx", 0o600);
  try {
    writeFileSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
