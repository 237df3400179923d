/** What `--brand` names, and when it is known without asking that there is no such brand. */
import { type FoundBrands, findBrands, hintAtBrands } from "../mirror/find-brands.ts";
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import { dayMillis } from "../service/clock.ts";
import { weights } from "./plan/weights.ts";
import { SyncError } from "./sync-error.ts";

/**
 * Refuses a name that nothing is called by, where the whole list of brands was looked at so lately that a run would leave it
 * alone. Where it was not, only the service knows.
 * @param now epoch milliseconds
 * @throws SyncError `unknown-brand`
 */
export function requireKnownBrands(mirror: MirrorReader, brands: readonly string[], now: number): void {
  for (const brand of brands) {
    const found = findBrands(mirror, brand);
    if (found.certainty === "none" && isListFresh(mirror, now)) throw unknownBrand(brand, found);
  }
}

export function unknownBrand(brand: string, found: FoundBrands): SyncError {
  return new SyncError(
    "unknown-brand",
    `The service lists no brand called ${JSON.stringify(brand)}`,
    hintAtBrands(found.certainty === "none" ? found.alike : []),
  );
}

/** A pass that is not over, or ended as partial, has a row; one that made a whole has none. */
function isListFresh({ db }: MirrorReader, now: number): boolean {
  const { since, isWhole } = db
    .prepare<[], { since: number | null; isWhole: 0 | 1 | null }>(
      `select min(r.checked_at) as since,
         min(r.state = 'held' and p.id is not null and s.collection_id is null) as isWhole
       from _resource r left join _page p on p.id = r.id left join _pass s on s.collection_id = p.collection_id
       where r.kind = 'brands' and r.state not in ('superseded', 'elsewhere')`,
    )
    .get() ?? { since: null, isWhole: null };
  if (since === null || isWhole !== 1) return false;
  const ageMillis = now - since;
  return ageMillis >= 0 && ageMillis < weights.restDays * dayMillis;
}
