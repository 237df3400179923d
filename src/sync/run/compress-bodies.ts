/** What comes after a run that is closed: its bodies are made smaller, batch by batch, as long as nobody asks to end. */
import { MirrorError } from "../../mirror/file/errors.ts";
import type { RunMirror } from "../writer/client.ts";
import type { GracefulStop } from "./graceful-stop.ts";

/**
 * Whatever is left is compressed when the next run closes.
 * @throws MirrorError when the mirror turns out to be damaged
 */
export async function compressBodies(
  { writes }: Pick<RunMirror, "writes">,
  interruption: Pick<GracefulStop, "isRequested">,
): Promise<void> {
  try {
    while (!interruption.isRequested && (await writes.compressBatch()) > 0);
  } catch (error) {
    // All that the run fetched is saved; for want of space it only stays as large as it came.
    if (!(error instanceof MirrorError) || error.code !== "unwritable") throw error;
  }
}
