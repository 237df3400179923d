import type { Io } from "./io.ts";
import type { Settings } from "./settings.ts";

/**
 * Says that an answer is not all there is.
 * @param option gives more
 */
export function remarkOnCut(limit: number, option: string, { quiet }: Settings, io: Io): void {
  if (!quiet) io.err(`Only the first ${limit}; ${option} gives more.\n`);
}
