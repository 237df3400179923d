/** What the mirror knows of its brands, for planning. */
import { worthAsking } from "../../mirror/absence/absences.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { isInScope, type Scope } from "../../mirror/frontier.ts";
import type { BrandFacts, CatalogueFacts, ListingFacts } from "./brand-steps.ts";

interface BrandRow {
  readonly id: number;
  readonly isHeld: 0 | 1;
  readonly bras: number | null;
}

interface ListingRow extends Omit<ListingFacts, "isRead"> {
  readonly brandId: number;
  readonly isRead: 0 | 1;
}

/** @returns a function that reads the facts as they are at the moment */
export function prepareCatalogueFacts(db: Connection, scope: Scope): () => CatalogueFacts {
  const inScope = isInScope(scope, "r");
  const selectBrands = db.prepare<[], BrandRow>(
    `select r.id, r.state = 'held' as isHeld, cast(b.bra_count as real) as bras
     from _resource r left join _brand b on b.id = r.id
     where r.kind = 'brand' and r.state in ('due', 'held') and ${inScope} order by r.id`,
  );
  // Later pages of a listing belong to its brand like the first one, and `_page` says which listing they are of.
  const selectListings = db.prepare<[], ListingRow>(
    `select c.id, c.owner_id as brandId, c.state = 'held' as isRead,
       (c.state = 'due') + coalesce(pages.due, 0) as duePages, p.total,
       coalesce(models.known, 0) as knownModels, coalesce(models.held, 0) as heldModels,
       coalesce(models.due, 0) as dueModels, coalesce(models.bras, 0) as brasOfHeld
     from _resource c
     left join _page p on p.id = c.id
     left join (
       select q.collection_id as id, count(*) as due from _resource r join _page q on q.id = r.id
       where r.kind = 'models' and r.state = 'due' and ${worthAsking("r")} and q.collection_id <> q.id group by q.collection_id
     ) pages on pages.id = c.id
     left join (
       select r.owner_id as id, count(*) as known, sum(r.state = 'held') as held, sum(r.state = 'due') as due,
         total(m.bra_count) as bras
       from _resource r left join _model m on m.id = r.id
       where r.kind = 'model' and r.state in ('due', 'held') and ${worthAsking("r")} group by r.owner_id
     ) models on models.id = c.id
     where c.kind = 'models' and c.state in ('due', 'held') and (p.id is null or p.collection_id = p.id)`,
  );
  const countBrandPages = db
    .prepare<[], number>(
      `select count(*) from _resource r where r.kind = 'brands' and r.state = 'due' and ${inScope}`,
    )
    .pluck();

  return () => {
    const listings = new Map(selectListings.all().map((row) => [row.brandId, toListing(row)]));
    const brands = selectBrands.all().map(
      ({ id, isHeld, bras }): BrandFacts => ({
        id,
        isHeld: isHeld === 1,
        bras,
        listing: listings.get(id) ?? null,
      }),
    );
    return { brands, dueBrandPages: countBrandPages.get() ?? 0 };
  };
}

function toListing({ brandId: _, isRead, ...row }: ListingRow): ListingFacts {
  return { ...row, isRead: isRead === 1 };
}
