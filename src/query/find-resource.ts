/** The one resource that is meant by a URL, slugs such as `brand/model/size`, an id, or a name. */
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import { type FoundResource, findByUrl, findCalled, listResources, type ShownKind } from "./called.ts";
import { KeyError } from "./key-error.ts";
import { suggestKeys } from "./suggest-keys.ts";

/**
 * @param key null for the only one of its kind
 * @throws KeyError when the key finds none, or several
 */
export function findResource(mirror: MirrorReader, kind: ShownKind, key: string | null): FoundResource {
  const [found, ...others] = findAll(mirror, kind, key);
  if (found === undefined) throw nothingFound(mirror, kind, key);
  if (others.length === 0) return found;
  const listed = [found, ...others].slice(0, 5).map(({ href, names }) => {
    const name = names.at(-1);
    return name === undefined ? href : `${href} (${name})`;
  });
  throw new KeyError(
    `${key === null ? "There are several" : `Several are called ${JSON.stringify(key)}`}: ${listed.join(", ")}${others.length > 4 ? ", …" : ""}`,
    "Give the URL of one of them.",
  );
}

function findAll(mirror: MirrorReader, kind: ShownKind, key: string | null): FoundResource[] {
  if (key === null) {
    const all = listResources(mirror, kind, null);
    const current = all.filter(({ isGone }) => !isGone);
    return current.length > 0 ? current : all;
  }
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(key);
  return isUrl ? findByUrl(mirror, kind, key) : findCalled(mirror, kind, key);
}

function nothingFound(mirror: MirrorReader, kind: ShownKind, key: string | null): KeyError {
  const isOfAccount = kind === "user" || kind === "bra" || kind === "measurement";
  if (isOfAccount !== (mirror.identity.area === "account")) {
    return isOfAccount
      ? new KeyError(
          `A ${kind} is in no mirror of a catalogue`,
          "--account NAME says whose mirror to look into.",
        )
      : new KeyError(
          `A ${kind} is in no mirror of an account`,
          "Without --account it is looked for in the catalogue's.",
        );
  }
  if (key !== null) return suggestKeys(mirror, kind, key);
  return new KeyError(
    `The mirror holds no ${kind} yet`,
    "A sync fetches it; `armoire status` says what is held.",
  );
}
