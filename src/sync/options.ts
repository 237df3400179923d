/** The options that a sync and its plan share, with one set of defaults. */
import { sql } from "kysely";
import { kinds } from "../../jobs/kinds.ts";
import { type Area, areas, type Depth, depths, type Kinds, unknownKind } from "../../schema/kind.ts";
import type { ScopeState, TokenScopes } from "../mirror/account/token-scopes.ts";
import { prepare, prepareColumn } from "../mirror/file/statements.ts";
import { type FoundBrands, findBrands, hintAtBrands } from "../mirror/find-brands.ts";
import { q } from "../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { dayMillis } from "../platform/clock.ts";
import { requireNumbersFrom, requireWholeNumbers } from "../platform/errors.ts";
import { SyncError } from "./errors.ts";
import { type Mode, modes, type Order, orders, weights } from "./plan/request.ts";

export interface ScopeOptions {
  /** `account`: the resources of a token's user, without depths and brands. Default: `catalogue`. */
  readonly area?: Area;
  /** Default: `incremental`. */
  readonly mode?: Mode;
  /** Default: `value`. */
  readonly order?: Order;
  /** Default: `sizes`. */
  readonly depth?: Depth;
  /** Only these brands, by listed name or slug. Default: all. */
  readonly brands?: readonly string[];
  /** Optional links to follow, such as `related`, `same_cut`, `adjacent_sizes`. Default: none. */
  readonly follow?: readonly string[];
  /** At most so many free checks in an incremental run. Default: null, 2,000; with an ample allowance, ten minutes of them. */
  readonly maxFreeChecks?: number | null;
  /** An incremental run does not check resources that were checked more recently. Default: 0. */
  readonly skipFresherThanMillis?: number;
  /** Nothing held should be unchecked for longer. Default: 30 days. */
  readonly maxStalenessMillis?: number;
  /** At most so many free checks at a time. Default: 1, since checks cost the service work and rarely find a change. */
  readonly checkConcurrency?: number;
}

export type SyncScope = Required<ScopeOptions>;

export const defaultMaxStalenessDays = 30;

/** @throws RangeError for an unknown area, mode, order or depth, and for numbers that are too small or none */
export function resolveOptions(options: ScopeOptions): SyncScope {
  const { mode = "incremental", order = "value", depth = "sizes", brands = [], follow = [] } = options;
  requireOneOf("mode", modes, mode);
  requireOneOf("order", orders, order);
  requireOneOf("depth", depths, depth);
  const { area = "catalogue", maxFreeChecks = null, skipFresherThanMillis = 0 } = options;
  const { maxStalenessMillis = defaultMaxStalenessDays * dayMillis } = options;
  const { checkConcurrency = 1 } = options;
  requireOneOf("area", areas, area);
  requireWholeNumbers(0, { maxFreeChecks });
  requireWholeNumbers(1, { checkConcurrency });
  requireNumbersFrom(0, { skipFresherThanMillis, maxStalenessMillis });
  return {
    area,
    mode,
    order,
    depth,
    brands,
    follow,
    maxFreeChecks,
    skipFresherThanMillis,
    maxStalenessMillis,
    checkConcurrency,
  };
}

function requireOneOf(name: string, values: readonly string[], value: string): void {
  if (!values.includes(value))
    throw new RangeError(`${name} must be one of ${values.join(", ")}, not ${value}`);
}

/** The kinds that each depth adds, in the order of the crawl. */
export const kindsOfDepth: Readonly<Record<Depth, readonly string[]>> = {
  brands: ["brands", "brand"],
  models: ["models", "model"],
  sizes: ["sizes", "size"],
};

const kindsOfAccount = ["me", "bras", "bra", "measurements", "measurement"];

/** The kinds to fetch, in order. @param follow optional links to follow */
export function kindsInScope(kinds: Kinds, area: Area, depth: Depth, follow: readonly string[]): string[] {
  const crawled =
    area === "account"
      ? kindsOfAccount
      : depths.slice(0, depths.indexOf(depth) + 1).flatMap((level) => kindsOfDepth[level]);
  const followed = ["root", ...crawled].flatMap((name) =>
    follow.map((link) => kinds[name]?.optional[link] ?? unknownKind(link)),
  );
  return [...new Set(["root", ...crawled, ...followed])];
}

/** The kinds of a sync that fetches only these resources: the root first, then owners before their items. */
export function kindsOfOnly(links: readonly { readonly kind: string }[]): string[] {
  const linked = new Set(links.map(({ kind }) => kind));
  return ["root", ...["brand", "model", "size"].filter((kind) => linked.has(kind))];
}

/** Without the kinds that the user's token does not grant; held resources of those stay unchanged. */
export function grantedKinds(names: readonly string[], scopes: TokenScopes | null): string[] {
  if (scopes === null) return [...names];
  const { profile, bras, measurements } = scopes;
  const stateOf: Readonly<Record<string, ScopeState>> = {
    me: profile,
    bras,
    bra: bras,
    measurements,
    measurement: measurements,
  };
  return names.filter((name) => stateOf[name] !== "not-granted");
}

/**
 * Rejects a brand that the list does not have, if the whole list was checked so recently that a run would not check it
 * again. Otherwise only the service knows.
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
    `The service lists no brand called ${JSON.stringify(brand)}.`,
    `${hintAtBrands(found.certainty === "none" ? found.similar : [])} A brand that is not fetched yet is known by name and URL only.`,
  );
}

/** Whether every page of the list of brands is held and was checked recently. A pass without a row is complete. */
function isListFresh({ db }: MirrorReader, now: number): boolean {
  const select = prepare(db, () =>
    q
      .selectFrom("_resource as r")
      .leftJoin("_page as p", "p.id", "r.id")
      .leftJoin("_pass as s", "s.collection_id", "p.collection_id")
      .select((eb) => [
        eb.fn.min<number | null>("r.checked_at").as("checkedAt"),
        sql<0 | 1 | null>`min(r.state = 'held' and p.id is not null and s.collection_id is null)`.as(
          "isComplete",
        ),
      ])
      .where("r.kind", "=", "brands")
      .where("r.state", "not in", ["superseded", "elsewhere"]),
  );
  const { checkedAt = null, isComplete = null } = select.get() ?? {};
  if (checkedAt === null || isComplete !== 1) return false;
  const ageMillis = now - checkedAt;
  return ageMillis >= 0 && ageMillis < weights.restDays * dayMillis;
}

/**
 * Rejects a name that neither the table of kinds nor any response has: a misspelt one would silently follow nothing.
 * @throws SyncError `unknown-link`
 */
export function requireKnownLinks({ db }: MirrorReader, names: readonly string[]): void {
  const known = new Set(Object.values(kinds).flatMap(({ optional }) => Object.keys(optional)));
  const selectSeen = prepareColumn(db, (p: { name: string }) =>
    q.selectFrom("_link").select("from_id").where("name", "=", p.name).limit(1),
  );
  const unknown = names.find((name) => !known.has(name) && selectSeen.get({ name }) === undefined);
  if (unknown === undefined) return;
  throw new SyncError(
    "unknown-link",
    `No link called ${JSON.stringify(unknown)} is known.`,
    `Known links: ${[...known].join(", ")}; \`armoire status\` lists others that the service has shown.`,
  );
}
