import { kinds } from "../../../jobs/kinds.ts";
import { type DeriveContext, type Derived, deriveOrThrow } from "../../../src/mirror/derive/derive.ts";
import { api, goldenEntity, parseGolden } from "./golden.ts";

/** The URL of every body here. */
export const url = `${api}/x/here/?page=1`;

export const context: DeriveContext = { kinds, origin: new URL(api).origin, serviceName: "service" };
export const derive = (value: unknown, kind: string): Derived =>
  deriveOrThrow({ value, hasDuplicateKeys: false }, { baseUrl: url, kind }, context);
export const deriveGolden = (file: string, kind = file): Derived =>
  deriveOrThrow(parseGolden(file), { baseUrl: url, kind }, context);

/** The name, address and kind of each link, and whether its target is owned or optional. */
export const linksOf = ({ links }: Derived) =>
  links.map(({ name, url: to, kind, owned, isOptional }) => {
    const hold = isOptional ? "optional" : owned ? "own" : "other";
    return [name, to, kind, hold];
  });
export const withLinks = (links: Record<string, unknown>, kind = "brand") =>
  derive({ ...goldenEntity("brand"), links }, kind);
export const withItems = (
  collection: readonly unknown[],
  kind = "brands",
  meta: Record<string, unknown> = {},
) => derive({ rel: "collection", links: {}, meta, collection }, kind);
