import { utimesSync, writeFileSync } from "node:fs";
import { hasCode, toFileError } from "../errors.ts";

/** Sets the time of a file to now, and creates it if it is missing. Health checks look at its age. @throws FileError */
export function touchHeartbeat(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw toFileError(error, file);
    try {
      writeFileSync(file, "");
    } catch (cause) {
      throw toFileError(cause, file);
    }
  }
}
