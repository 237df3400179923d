import { describeError, exitCodes } from "./terminal/exit-codes.ts";
import type { Io } from "./terminal/io.ts";

const noPermission = new Set(["EACCES", "EPERM", "EROFS"]);

/**
 * Notes a backup for `armoire status`. Without it the backup is as good, so the rest of the command goes on: a folder
 * that the user may not write to is a warning, and any other error, such as one of the disk, also ends in exit code 1.
 * To be called before a more specific exit code is set.
 */
export async function noteBackup(io: Io, note: Promise<void>, isVerbose: boolean): Promise<void> {
  try {
    await note;
  } catch (error) {
    const problem = describeError(error, isVerbose).replace(/^armoire: /, "");
    io.err(`Warning: \`armoire status\` will not show this backup. ${problem}`);
    const cause = error instanceof Error ? error.cause : null;
    if (!(cause instanceof Error && "code" in cause && noPermission.has(String(cause.code))))
      io.setExitCode(exitCodes.failed);
  }
}
