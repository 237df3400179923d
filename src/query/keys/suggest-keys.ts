/** The message for a key that matches nothing: the resource is not fetched yet, or similar keys exist. */
import { prepare } from "../../mirror/file/statements.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { plainName, similarNames, slugify } from "../../platform/text/fuzzy-names.ts";
import { q } from "../views.ts";
import { listResources, type ShownKind, splitKey, urlVariants } from "./find-by-key.ts";

export function suggestKeys(
  mirror: MirrorReader,
  kind: ShownKind,
  key: string,
): { readonly message: string; readonly hint: string } {
  const known = prepare(mirror.db, (p: { kind: string }) =>
    q.selectFrom("known").select(["href", "name", "state", "owner_href"]).where("kind", "=", p.kind),
  ).all({ kind: kind === "user" ? "me" : kind });
  const urls = new Set(urlVariants(key));
  const splits = [...splitKey(mirror, kind, key)].map(({ parents, rest }) => ({
    owners: parents.map(({ href }) => href),
    slug: slugOf(rest),
  }));
  const isNamed = (name: unknown, owner: string | null): boolean => {
    if (typeof name !== "string" || slugOf(name) === "") return false;
    if (slugOf(name) === slugOf(key)) return true;
    return splits.some(({ owners, slug }) => slug === slugOf(name) && owners.some((href) => href === owner));
  };
  const unfetched = known.find(
    ({ href, name, state, owner_href }) =>
      (state === "due" || state === "failed") && (urls.has(href) || isNamed(name, owner_href)),
  );
  if (unfetched !== undefined) {
    return {
      message: `The ${kind} ${JSON.stringify(key)} is listed but not fetched yet: ${unfetched.href}`,
      hint: "`armoire sync` fetches it; `armoire plan` shows when.",
    };
  }
  const names = known.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  const similar = suggestChildren(mirror, kind, key) ?? similarNames(key, names, 3);
  return {
    message: `The mirror holds no ${kind} called ${JSON.stringify(key)}.`,
    hint:
      similar.length > 0
        ? `Did you mean ${similar.map((name) => JSON.stringify(name)).join(" or ")}?`
        : "A key is a URL, slugs such as brand/model/size, or a name; `armoire status` shows what is held.",
  };
}

const slugOf = (name: string) => slugify(plainName(name));

/** Keys with the same parent and a similar last part; null if the key does not begin with that of a parent. */
function suggestChildren(mirror: MirrorReader, kind: ShownKind, key: string): string[] | null {
  const [split] = splitKey(mirror, kind, key);
  if (split === undefined) return null;
  const { parents, parentKey, rest } = split;
  const names = listResources(mirror, kind, parents).flatMap((child) => child.names.slice(0, 1));
  return similarNames(rest, names, 3).map((name) => `${parentKey}/${name}`);
}
