/** Metrics of this process, with the names of Prometheus' own client libraries, and of the running version. */
import { readdirSync } from "node:fs";
import packageJson from "../../package.json" with { type: "json" };
import { gauge, type Metric } from "./metric.ts";

const microsPerSecond = 1_000_000;
const startedAtSeconds = Date.now() / 1000 - process.uptime();

export function buildInfo(): Metric {
  const build = { labels: { version: packageJson.version, node: process.versions.node }, value: 1 };
  return gauge("build_info", "The running version, always 1.", [build]);
}

export function readProcessMetrics(): Metric[] {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const openFiles = countOpenFiles();
  const ofProcess = (name: string, help: string, value: number, type: Metric["type"] = "gauge"): Metric => ({
    ...{ name: `process_${name}`, type, help },
    samples: [{ labels: {}, value }],
  });
  const cpuSeconds = (userCPUTime + systemCPUTime) / microsPerSecond;
  return [
    buildInfo(),
    ofProcess("cpu_seconds_total", "Processor time of this process.", cpuSeconds, "counter"),
    ofProcess("resident_memory_bytes", "Memory of this process.", process.memoryUsage.rss()),
    ofProcess("start_time_seconds", "When this process started.", startedAtSeconds),
    ...(openFiles === null ? [] : [ofProcess("open_fds", "Open files and sockets.", openFiles)]),
  ];
}

/** Null except on Linux. */
function countOpenFiles(): number | null {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
}
