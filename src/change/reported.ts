/** What the service reports: which resources, by their own `last_modified_at`, changed at some time or later. */
import { toSortable } from "../mirror/points/service-time.ts";
import type { Reported } from "./change.ts";
import { type Choice, everything, isOfBrand, isOfKind } from "./choice.ts";
import { compareKinds } from "./compared-kinds.ts";
import { nameOf } from "./diff.ts";
import { itemsOf, type State, toRow } from "./state.ts";

/**
 * In the order of `diff`, tombstones included; what has no such field is never reported.
 * @param since as `readServiceTime` gives it
 */
export function* reportedSince(
  state: State,
  since: string,
  choice: Choice = everything,
): Generator<Reported> {
  for (const kind of compareKinds(state, state).kinds) {
    const at = kind.fields.indexOf("last_modified_at");
    if (at < 0 || !isOfKind(choice, kind)) continue;
    for (const item of itemsOf(state, kind)) {
      const lastModifiedAt = item.values[at];
      const time = toSortable(lastModifiedAt);
      if (time === null || time < since || !isOfBrand(choice, kind, item)) continue;
      yield {
        kind: kind.name,
        href: item.href,
        name: nameOf(kind, item),
        change: "reported",
        lastModifiedAt: String(lastModifiedAt),
        row: toRow(kind, item),
      };
    }
  }
}
