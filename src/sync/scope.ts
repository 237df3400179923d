/** What a sync goes for: a depth and the optional links that are followed, as an ordered list of kinds. Pure. */
import { type Area, type Depth, depths, type Kinds, unknownKind } from "../../schema/kind.ts";
import type { Grants } from "../mirror/grants.ts";

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
export function grantedKinds(names: readonly string[], grants: Grants | null): string[] {
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
