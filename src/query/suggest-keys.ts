/** What to say where a key finds nothing: what is known and not fetched yet, or what was perhaps meant. */
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import { namesAlike, plainName } from "../mirror/search/names.ts";
import { listResources, type ShownKind, spellingsOf, splitKey } from "./called.ts";
import { KeyError } from "./key-error.ts";

interface KnownResource {
  readonly href: string;
  readonly name: string | null;
  readonly state: string;
}

export function suggestKeys(mirror: MirrorReader, kind: ShownKind, key: string): KeyError {
  const known = mirror.db
    .prepare<[string], KnownResource>("select href, name, state from known where kind = ?")
    .all(kind === "user" ? "me" : kind);
  const spellings = new Set(spellingsOf(key));
  const unfetched = known.find(
    ({ href, name, state }) =>
      (state === "due" || state === "failed") &&
      (spellings.has(href) || (typeof name === "string" && plainName(name) === plainName(key))),
  );
  if (unfetched !== undefined) {
    return new KeyError(
      `The mirror knows the ${kind} ${JSON.stringify(key)} and does not hold it yet: ${unfetched.href}`,
      "`armoire sync` fetches it, `armoire plan` says when.",
    );
  }
  const alike = suggestChildren(mirror, kind, key) ?? namesAlike(key, namesOf(known), 3);
  return new KeyError(
    `The mirror holds no ${kind} called ${JSON.stringify(key)}`,
    alike.length > 0
      ? `Did you mean ${alike.map((name) => JSON.stringify(name)).join(" or ")}?`
      : "A key is a URL, slugs such as brand/model/size, or a name; `armoire status` says what is held.",
  );
}

/** Where the key begins with what there is: what else of that is called nearly so. */
function suggestChildren(mirror: MirrorReader, kind: ShownKind, key: string): string[] | null {
  const [split] = splitKey(mirror, kind, key);
  if (split === undefined) return null;
  const { parents, before, rest } = split;
  const names = listResources(mirror, kind, parents).flatMap((child) => child.names.slice(0, 1));
  return namesAlike(rest, names, 3).map((name) => `${before}/${name}`);
}

const namesOf = (known: readonly KnownResource[]) =>
  known.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
