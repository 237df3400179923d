/**
 * A process that opens a mirror for writing, creating it if there is none, records a run, and closes it:
 * `opening-process.ts FILE`. It exits with 1 and the message of an expected error.
 */
import { kinds } from "../../../jobs/kinds.ts";
import { MirrorError } from "../../../src/mirror/file/errors.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";

const [file = ""] = process.argv.slice(2);
const at = "2026-01-15T12:00:00.000Z";
const identity = {
  baseUrl: "https://catalogue.example/",
  area: "catalogue",
  serviceName: "service",
} as const;
try {
  const mirror = await openMirrorWriter({ file, identity, kinds, openedAt: at });
  mirror.addRoot(mirror.beginRun({ startedAt: at, mode: "incremental", scope: {} }));
  mirror.close();
} catch (error) {
  if (!(error instanceof MirrorError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
