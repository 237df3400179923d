/** What a sync would ask for next, read from the mirror alone: not one request is sent. */
import { existsSync } from "node:fs";
import { kinds } from "../../jobs/kinds.ts";
import type { Depth } from "../../schema/kind.ts";
import { prepareFrontier, readCycleRun } from "../mirror/frontier.ts";
import { openMirrorReader } from "../mirror/mirror.ts";
import { findBrands } from "./find-brands.ts";
import { kindsInScope } from "./scope.ts";

export interface SyncPlan {
  readonly mirror: string;
  /** What is due as far as the mirror knows; each fetch may lead to more. */
  readonly due: readonly { readonly kind: string; readonly fetch: number; readonly check: number }[];
  /** The first URLs that would be asked for. */
  readonly next: readonly string[];
}

/** @throws MirrorError */
export function planSync(options: {
  readonly file: string;
  readonly baseUrl: string;
  readonly depth?: Depth;
  readonly brands?: readonly string[];
  readonly follow?: readonly string[];
}): SyncPlan {
  const { file, baseUrl, depth = "sizes", brands = [], follow = [] } = options;
  if (!existsSync(file)) {
    return { mirror: file, due: [{ kind: "root", fetch: 1, check: 0 }], next: [new URL(baseUrl).href] };
  }
  const mirror = openMirrorReader(file);
  try {
    const found = brands.map((brand) => findBrands(mirror, brand));
    const ids = found.flatMap((one) => (one.certainty === "none" ? [] : one.ids));
    // A brand that is not known yet is looked for in the listing first.
    const scope = found.some(({ certainty }) => certainty === "none")
      ? { kinds: ["root", "brands"], belowIds: null }
      : {
          kinds: kindsInScope(kinds, "catalogue", depth, follow),
          belowIds: brands.length === 0 ? null : ids,
        };
    const cycleRun = readCycleRun(mirror.db) ?? 0;
    const current = prepareFrontier(mirror.db, scope, cycleRun);
    // Where the present cycle is done, the next sync begins another, in which all that is held is checked.
    const frontier =
      current.count() > 0 ? current : prepareFrontier(mirror.db, scope, Number.MAX_SAFE_INTEGER);
    return { mirror: file, due: frontier.countByKind(), next: frontier.take(10).map(({ url }) => url) };
  } finally {
    mirror.close();
  }
}
