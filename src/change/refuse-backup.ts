import { existsSync } from "node:fs";
import { join } from "node:path";
import { ChangeError } from "./change-error.ts";

/** A backup is no state to read rows from, packed or unpacked; a mirror can be made of it. @throws ChangeError */
export function refuseBackup(path: string, isFolder: boolean): void {
  const isBackup = isFolder ? existsSync(join(path, "bookkeeping")) : /\.zip(\.age)?$/i.test(path);
  if (!isBackup) return;
  const file = isFolder ? "FILE" : path;
  throw new ChangeError(
    "bad-point",
    isFolder ? `${path} holds the files of a backup, and no export.` : `${path} is a backup, and no mirror.`,
    `\`armoire backup restore ${file} --mirror restored.sqlite\` makes a mirror of it: compare that.`,
  );
}
