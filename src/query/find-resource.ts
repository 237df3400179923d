/** The one resource that is meant by a URL, slugs such as `brand/model/size`, or a name. */
import type { MirrorReader } from "../mirror/mirror.ts";
import { type FoundResource, findByUrl, findCalled, type ShownKind } from "./called.ts";
import { KeyError } from "./key-error.ts";
import { suggestKeys } from "./suggest-keys.ts";

/** @throws KeyError when the key finds none, or several */
export function findResource(mirror: MirrorReader, kind: ShownKind, key: string): FoundResource {
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(key);
  const [found, ...others] = isUrl ? findByUrl(mirror, kind, key) : findCalled(mirror, kind, key);
  if (found === undefined) throw suggestKeys(mirror, kind, key);
  if (others.length === 0) return found;
  const listed = [found, ...others].slice(0, 5).map(({ href, names }) => {
    const name = names.at(-1);
    return name === undefined ? href : `${href} (${name})`;
  });
  throw new KeyError(
    `Several are called ${JSON.stringify(key)}: ${listed.join(", ")}${others.length > 4 ? ", …" : ""}`,
    "Give the URL of one of them.",
  );
}
