import { hasCode } from "../platform/errors.ts";
import { describeError, exitCodes } from "./terminal/exit-codes.ts";
import type { Io } from "./terminal/io.ts";

/** The place is not one for a note; nothing is wrong with the disk. */
const codesOfPlaces = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "unsafe", "not-a-file"];

/**
 * Notes a backup for `armoire status`. The backup is just as good without the note, so the rest of the command goes on. A
 * folder that the user may not write to, or that others may change, is a warning; any other error, such as one of the disk,
 * also gives exit code 1. To be called before a more specific exit code is set.
 */
export async function noteBackup(io: Io, note: Promise<void>, isVerbose: boolean): Promise<void> {
  try {
    await note;
  } catch (error) {
    const problem = describeError(error, isVerbose).replace(/^armoire: /, "");
    io.err(`Warning: \`armoire status\` will not show this backup. ${problem}`);
    const causes = [error, error instanceof Error ? error.cause : null];
    if (!causes.some((cause) => codesOfPlaces.some((code) => hasCode(cause, code))))
      io.setExitCode(exitCodes.failed);
  }
}
