/** Where a page of a list of runs begins and ends: the newest run is first. */
import type { View } from "../../page.ts";

/** The run after which the page begins, so that it has the runs before it; null for the first page. */
export function pagePlace({ query }: View): number | null {
  const text = query.get("after") ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** All runs that are shown have a lower number. Later runs than the one whose state is shown had not begun then. */
export const pageEnd = ({ mirror }: View): number =>
  mirror.asOf === null ? Number.MAX_SAFE_INTEGER : mirror.asOf.run + 1;
