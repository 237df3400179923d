import { createHash } from "node:crypto";

/**
 * Names requests: by who asks, what is asked and for how many times it is. The name fences: an answer to an earlier one of
 * the same address is told from that to a later one, and the same request put twice is one job.
 */
export function requestIds(coordinator: string): (url: string) => string {
  const times = new Map<string, number>();
  return (url) => {
    const digest = createHash("sha256").update(url).digest("base64url").slice(0, 22);
    const time = (times.get(digest) ?? 0) + 1;
    times.set(digest, time);
    return `${coordinator}.${digest}.${time}`;
  };
}
