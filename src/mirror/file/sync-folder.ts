import { closeSync, fsyncSync, openSync } from "node:fs";

/** Makes the names in a folder durable; Windows cannot, and does not need to. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
