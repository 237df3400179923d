/** Resolves a key to one resource: a URL, slugs such as `brand/model/size`, an id, a code or a name. */
import type { MirrorReader } from "../../mirror/reader.ts";
import { errorClass } from "../../platform/errors.ts";
import {
  type FoundResource,
  findByName,
  findByUrl,
  listResources,
  preferCurrent,
  type ShownKind,
} from "./find-by-key.ts";
import { suggestKeys } from "./suggest-keys.ts";

/** A key matches no resource, or several. */
export class KeyError extends errorClass("KeyError", { unknown: "failed", ambiguous: "failed" }) {}

/**
 * Finds the one resource that a key names, also one that is gone.
 * @param key a URL, or a key such as `brand/model`; null for the only resource of the kind
 * @throws KeyError if no resource matches, or several do
 */
export function findResource(mirror: MirrorReader, kind: ShownKind, key: string | null): FoundResource {
  const [found, ...others] = findAll(mirror, kind, key);
  if (found === undefined) throw unknownKey(mirror, kind, key);
  if (others.length === 0) return found;
  const listed = [found, ...others].slice(0, 5).map(({ href, names }) => {
    const name = names.at(-1);
    return name === undefined ? href : `${href} (${name})`;
  });
  throw new KeyError(
    "ambiguous",
    `${key === null ? "The mirror has several" : `${JSON.stringify(key)} matches several`}: ${listed.join(", ")}${others.length > 4 ? ", …" : "."}`,
    "Give the URL of one of them.",
  );
}

function findAll(mirror: MirrorReader, kind: ShownKind, key: string | null): FoundResource[] {
  if (key === null) return preferCurrent(listResources(mirror, kind, null));
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(key);
  return isUrl ? findByUrl(mirror, kind, key) : findByName(mirror, kind, key);
}

function unknownKey(mirror: MirrorReader, kind: ShownKind, key: string | null): KeyError {
  const isAccountKind = kind === "user" || kind === "bra" || kind === "measurement";
  if (isAccountKind && mirror.identity.area === "catalogue") {
    const hint = "Name an account with --account NAME.";
    return new KeyError("unknown", `The mirror of a catalogue holds no ${kind}.`, hint);
  }
  if (!isAccountKind && mirror.identity.area === "account") {
    const hint = "Leave out --account to use the mirror of the catalogue.";
    return new KeyError("unknown", `The mirror of an account holds no ${kind}.`, hint);
  }
  if (key === null) {
    const hint = "`armoire sync` fetches it; `armoire status` shows what is held.";
    return new KeyError("unknown", `The mirror holds no ${kind} yet.`, hint);
  }
  const { message, hint } = suggestKeys(mirror, kind, key);
  return new KeyError("unknown", message, hint);
}
