/** A process that reads what an archive or a folder of snapshots says of itself: `describing-process.ts state|backup|snapshot FILE`. It prints the refusal, if any, and its peak memory in MiB. */
import { readFileSync, writeSync } from "node:fs";
import { peakMebibytes } from "../../../bench/measurement.ts";
import { parseManifest } from "../../../src/archive/contents/manifest.ts";
import { parseState } from "../../../src/archive/published/state.ts";
import { parseSnapshotManifest } from "../../../src/archive/snapshot/manifest.ts";

const [what = "", file = ""] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
const parse = { state: parseState, backup: parseManifest, snapshot: parseSnapshotManifest }[what];
let refusal: string | null = null;
try {
  const parsed = parse?.(text, file);
  if (parsed !== undefined && "problem" in parsed) refusal = parsed.problem;
} catch (error) {
  if (!(error instanceof Error)) throw error;
  refusal = error.message;
}
writeSync(1, JSON.stringify({ refusal, mebibytes: peakMebibytes() }));
