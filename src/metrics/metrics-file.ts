/** Figures of a mirror as a file for the textfile collector of Prometheus' node_exporter. */
import { toPrometheusText } from "../../jobs/metrics/metric.ts";
import { toMirrorMetrics } from "../../jobs/metrics/mirror-metrics.ts";
import { buildInfo } from "../../jobs/metrics/process-metrics.ts";
import { writeOutput } from "../platform/atomic-file.ts";
import { toFileError } from "../platform/errors.ts";
import { requireReplaceable } from "../platform/files/replaceable-files.ts";
import { type MirrorPlace, readMirrorFigures } from "./mirror-figures.ts";

/**
 * Replaces the file, which other users can read: it has numbers, the service's host and the account's local name.
 * @param now epoch milliseconds
 * @throws FileError; as `readMirrorFigures`
 */
export async function writeMetricsFile(file: string, place: MirrorPlace, now: number): Promise<void> {
  // Metrics of the process would collide with those of node_exporter.
  const text = toPrometheusText([buildInfo(), ...toMirrorMetrics([readMirrorFigures(place, now)])]);
  try {
    requireReplaceable(file);
    await writeOutput(file, [Buffer.from(text)], { isPrivate: false });
  } catch (error) {
    throw toFileError(error, file);
  }
}
