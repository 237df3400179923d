import { readFileSync } from "node:fs";

/** What a measured program prints about itself, as one line of JSON. */
export interface Measurement {
  readonly resources: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMebibytes: number;
}

/**
 * Measures `work` and prints the measurement.
 * @param resources how many resources `work` handles; null if `work` returns the count
 */
export async function printMeasurement(
  resources: number | null,
  work: () => Promise<number> | Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const counted = await work();
  const { user, system } = process.cpuUsage(cpu);
  const measurement: Measurement = {
    resources: resources ?? Number(counted),
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds: (user + system) / 1e6,
    peakMebibytes: peakMebibytes(),
  };
  process.stdout.write(`${JSON.stringify(measurement)}\n`);
}

/** The most memory that this process has had. On Linux, `maxRSS` would count the memory of the process that started it, too. */
export function peakMebibytes(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS / 1024;
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  if (kibibytes === undefined) throw new Error("/proc/self/status does not state VmHWM");
  return Number(kibibytes) / 1024;
}
