import type { Kinds } from "../../schema/kind.ts";
import type { RebuildReport } from "./derive/rebuild.ts";
import { openMirrorWriter } from "./mirror.ts";
import { readMirror } from "./mirror-reader.ts";

/** Computes a mirror's projections anew from its bodies. @throws MirrorError */
export async function rebuildMirror(options: {
  readonly file: string;
  readonly kinds: Kinds;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly openedAt: string;
}): Promise<RebuildReport> {
  const identity = readMirror(options.file, (mirror) => mirror.identity);
  const mirror = await openMirrorWriter({ ...options, identity });
  try {
    return mirror.rebuiltOnOpening ?? mirror.rebuild();
  } finally {
    mirror.close();
  }
}
