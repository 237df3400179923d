import type { PointContext } from "./point.ts";

/** The present time, and the zone of times that name none. */
export function pointContext(): PointContext {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // Where the system does not say, Node itself shows times in UTC.
  const isKnown = timeZone !== undefined && timeZone !== "Etc/Unknown";
  return { now: Date.now(), timeZone: isKnown ? timeZone : "UTC" };
}
