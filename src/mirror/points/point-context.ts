import type { PointContext } from "./point.ts";

/** The present time, and the zone of times that name none: asked for only then, as to ask takes long. */
export function pointContext(): PointContext {
  return {
    now: Date.now(),
    get timeZone() {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      // Where the system does not say, Node itself shows times in UTC.
      const isKnown = timeZone !== undefined && timeZone !== "Etc/Unknown";
      return isKnown ? timeZone : "UTC";
    },
  };
}
