/** What ends a run ends it for every request at once, although results are taken over in batches. */
import type { CarryOut, Stop } from "../../jobs/fetch-job.ts";

/** Once an answer said to stop, the jobs that come after it are given back without being asked for. */
export function stopAtOnce(carryOut: CarryOut): CarryOut {
  let stop: Stop | null = null;
  return async (job, signal) => {
    if (stop !== null) return { end: "stopped", job, stop };
    const result = await carryOut(job, signal);
    if (result.end === "stopped") stop = result.stop;
    return result;
  };
}
