/** Epoch milliseconds as ISO 8601, UTC. */
export function toIso(millis: number): string {
  return new Date(millis).toISOString();
}
