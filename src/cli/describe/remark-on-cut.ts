import type { Settings } from "../settings/settings.ts";
import type { Io } from "../terminal/io.ts";

/**
 * Says that an answer is not all there is.
 * @param option gives more
 */
export function remarkOnCut(limit: number, option: string, { quiet }: Settings, io: Io): void {
  if (!quiet) io.err(`Only the first ${limit}; ${option} gives more.\n`);
}
