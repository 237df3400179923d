/** What the mirror knows of the catalogue's size, for forecasts. */
import type { Connection } from "../../mirror/file/connection.ts";
import type { ForecastFacts } from "./forecast.ts";
import { prepareCatalogueFacts } from "./read-catalogue-facts.ts";

/** @returns null until the list of brands was begun: before, nobody knows how large the catalogue is */
export function readForecastFacts(db: Connection): ForecastFacts | null {
  const counts = db
    .prepare<[], { kind: string; known: number; held: number }>(
      `select kind, count(*) as known, sum(state = 'held') as held
       from _resource where state in ('due', 'held', 'failed') group by kind`,
    )
    .all();
  const brandTotal = db
    .prepare<[], number | null>(
      "select max(p.total) from _page p join _resource r on r.id = p.id where r.kind = 'brands' and r.state = 'held'",
    )
    .pluck()
    .get();
  const readSizeListings = db
    .prepare<[], number>(
      `select count(*) from _resource r join _page p on p.id = r.id and p.collection_id = p.id
       where r.kind = 'sizes' and r.state = 'held'`,
    )
    .pluck()
    .get();
  const byKind = new Map(counts.map(({ kind, known, held }) => [kind, { known, held }]));
  if (!byKind.get("brands")?.held) return null;
  return {
    ...prepareCatalogueFacts(db, { kinds: [], belowIds: null })(),
    brandTotal: brandTotal ?? null,
    counts: byKind,
    readSizeListings: readSizeListings ?? 0,
    sizesListed: byKind.get("size")?.known ?? 0,
  };
}
