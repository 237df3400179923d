/** What a sync goes for and in which order: the same for carrying it out and for planning it, with one set of defaults. */

import { kinds } from "../../jobs/kinds.ts";
import { type Area, type Depth, depths, type Kinds, unknownKind } from "../../schema/kind.ts";
import type { TokenScopes } from "../mirror/account/token-scopes.ts";
import { type FoundBrands, findBrands, hintAtBrands } from "../mirror/find-brands.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { dayMillis } from "../platform/clock.ts";
import { SyncError } from "./errors.ts";
import { type Mode, modes, type Order, orders, weights } from "./plan/request.ts";

export interface ScopeOptions {
  /** `catalogue` unless told; `account` for what belongs to the user of a token, which has neither depths nor brands. */
  readonly area?: Area;
  /** `incremental` unless told. */
  readonly mode?: Mode;
  /** `value` unless told. */
  readonly order?: Order;
  /** `sizes` unless told. */
  readonly depth?: Depth;
  /** Only these brands, by listed name or slug; all when empty. */
  readonly brands?: readonly string[];
  /** Links to follow that are else only noted, such as `related`, `same_cut`, `adjacent_sizes`. */
  readonly follow?: readonly string[];
  /** Checks that cost nothing, at most so many in an incremental run; 2,000 unless told. */
  readonly maxFreeChecks?: number;
  /** What was checked more recently is left alone in an incremental run; 0 unless told. */
  readonly skipFresherThanMillis?: number;
  /** The age that nothing held should pass; 30 days unless told. */
  readonly maxStalenessMillis?: number;
}

export type SyncScope = Required<ScopeOptions>;

export const defaultMaxFreeChecks = 2000;
export const defaultMaxStalenessDays = 30;

/** @throws RangeError for a mode, order or depth that there is not */
export function resolveOptions(options: ScopeOptions): SyncScope {
  const { mode = "incremental", order = "value", depth = "sizes", brands = [], follow = [] } = options;
  requireOneOf("mode", modes, mode);
  requireOneOf("order", orders, order);
  requireOneOf("depth", depths, depth);
  const { area = "catalogue", maxFreeChecks = defaultMaxFreeChecks, skipFresherThanMillis = 0 } = options;
  const { maxStalenessMillis = defaultMaxStalenessDays * dayMillis } = options;
  return {
    area,
    mode,
    order,
    depth,
    brands,
    follow,
    maxFreeChecks,
    skipFresherThanMillis: skipFresherThanMillis,
    maxStalenessMillis: maxStalenessMillis,
  };
}

function requireOneOf(name: string, values: readonly string[], value: string): void {
  if (!values.includes(value)) throw new RangeError(`${name} is one of ${values.join(", ")}, not ${value}`);
}

/** What a sync goes for: a depth and the optional links that are followed, as an ordered list of kinds. Pure. */

/** From the front page to the last size, level by level. */
export const kindsOfDepth: Readonly<Record<Depth, readonly string[]>> = {
  brands: ["brands", "brand"],
  models: ["models", "model"],
  sizes: ["sizes", "size"],
};

const kindsOfAccount = ["me", "bras", "bra", "measurements", "measurement"];

/** The kinds to fetch, in their order; `follow` names links such as `related` that are else only noted. */
export function kindsInScope(kinds: Kinds, area: Area, depth: Depth, follow: readonly string[]): string[] {
  const walked =
    area === "account"
      ? kindsOfAccount
      : depths.slice(0, depths.indexOf(depth) + 1).flatMap((level) => kindsOfDepth[level]);
  const followed = ["root", ...walked].flatMap((name) =>
    follow.map((link) => kinds[name]?.optional[link] ?? unknownKind(link)),
  );
  return [...new Set(["root", ...walked, ...followed])];
}

/** What is asked for where only some things are wanted: the front page before them, then what leads to others first. */
export function kindsOfOnly(links: readonly { readonly kind: string }[]): string[] {
  const wanted = new Set(links.map(({ kind }) => kind));
  return ["root", ...["brand", "model", "size"].filter((kind) => wanted.has(kind))];
}

/** Without what the user's token does not grant: what is held of that stays as it is. */
export function grantedKinds(names: readonly string[], grants: TokenScopes | null): string[] {
  if (grants === null) return [...names];
  const { profile, bras, measurements } = grants;
  const isGranted: Readonly<Record<string, boolean>> = {
    me: profile,
    bras,
    bra: bras,
    measurements,
    measurement: measurements,
  };
  return names.filter((name) => isGranted[name] ?? true);
}

/** What `--brand` names, and when it is known without asking that there is no such brand. */

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

/** Whether there are links of the names that are to be followed: a misspelt one would follow nothing, in silence. */

/** @throws SyncError `unknown-link` for a name that neither the walk knows nor the mirror has seen */
export function requireKnownLinks({ db }: MirrorReader, names: readonly string[]): void {
  const known = new Set(Object.values(kinds).flatMap(({ optional }) => Object.keys(optional)));
  const isSeen = db.prepare<[string], number>("select 1 from _link where name = ? limit 1");
  const unknown = names.find((name) => !known.has(name) && isSeen.get(name) === undefined);
  if (unknown === undefined) return;
  throw new SyncError(
    "unknown-link",
    `No link called ${JSON.stringify(unknown)} is known`,
    `There are ${[...known].join(", ")}; \`armoire status\` lists what else the service has shown.`,
  );
}
