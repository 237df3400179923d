/** The scope of a run: its kinds, and the resources that it is limited to. */
import { kinds } from "../../../jobs/kinds.ts";
import { readTokenScopes } from "../../mirror/account/token-scopes.ts";
import { findBrands } from "../../mirror/find-brands.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import type { Scope } from "../../mirror/scope.ts";
import { grantedKinds, kindsInScope, kindsOfOnly, unknownBrand } from "../options.ts";
import type { RunRequest, RunState, RunTools } from "./run-request.ts";

/** The scope of an account, without kinds that the token does not grant. */
export function accountScope({ area, depth, follow }: RunRequest, reader: MirrorReader): Scope {
  const names = kindsInScope(kinds, area, depth, follow);
  return { kinds: grantedKinds(names, readTokenScopes(reader)), belowIds: null };
}

/**
 * The scope of a catalogue. With `--brand`, the list is crawled first, then brands with a similar name, but never all brands.
 * @throws SyncError `unknown-brand`
 */
export async function resolveScope(
  { area, depth, brands, follow, only }: RunRequest,
  { mirror, runStop }: Pick<RunTools, "mirror" | "runStop">,
  { runId, summary }: RunState,
  crawl: (scope: Scope) => Promise<void>,
): Promise<Scope> {
  if (only !== null) {
    const belowIds = await mirror.writes.addResources(only, runId);
    return { kinds: kindsOfOnly(only), belowIds, isExact: true };
  }
  const scope: Scope = { kinds: kindsInScope(kinds, area, depth, follow), belowIds: null };
  if (brands.length === 0) return scope;
  const find = () => brands.map((brand) => ({ brand, found: findBrands(mirror.reader, brand) }));
  if (find().some(({ found }) => found.certainty === "none")) {
    await crawl({ kinds: ["root", "brands"], belowIds: null });
  }
  const likely = find().flatMap(({ found }) => (found.certainty === "likely" ? found.ids : []));
  if (likely.length > 0 && !runStop.isRequested) await crawl({ kinds: ["brand"], belowIds: likely });
  const belowIds: number[] = [];
  for (const { brand, found } of find()) {
    if (found.certainty === "known") belowIds.push(...found.ids);
    // Stopped before the brand was found: the next run continues to search.
    else if (runStop.isRequested) return { kinds: ["root", "brands", "brand"], belowIds: null };
    // After a failure, the brand may be on a page that could not be read.
    else if (summary.failed === 0) throw unknownBrand(brand, found);
  }
  return { ...scope, belowIds };
}
