/** The mirrors behind the API: a catalogue's and, if one is served, an account's of the same service. */
import { MirrorError } from "../../mirror/file/errors.ts";
import { requireIdentity } from "../../mirror/file/meta.ts";
import { type Point, PointError } from "../../mirror/points/point.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { type ServedMirror, serveMirror } from "../mirrors/open-mirror.ts";
import { type MirrorLookup, prepareLookup } from "./mirror-lookup.ts";
import type { Mirrors } from "./resolve.ts";

export interface MirrorOptions {
  /** The file of the catalogue's mirror; null while there is none. */
  readonly findCatalogue: () => string | null;
  /** The file of an account's mirror, of the same service. Default: null, no account is served. */
  readonly findAccount?: (() => string | null) | null;
  /** Shows the mirrors as they were. A run is one of the catalogue's; the account is shown as of its end. */
  readonly asOf?: Point;
}

export interface ApiMirrors {
  /**
   * Calls `use` in one read transaction of each mirror.
   * @param withAccount whether the account's mirror may be read
   * @throws MirrorError, PointError, errors of `use`
   */
  read<Result>(withAccount: boolean, use: (mirrors: Mirrors) => Result): Result;
  /** Changes with every commit to the catalogue's mirror, and with its file. @throws MirrorError */
  version(): string;
  close(): void;
}

/** @throws MirrorError, PointError: when an existing mirror cannot be used, or has no such point */
export function openMirrors({ findCatalogue, findAccount = null, asOf }: MirrorOptions): ApiMirrors {
  const catalogue = serveMirror(findCatalogue, { area: "catalogue" });
  const account = findAccount && serveMirror(findAccount, { area: "account" });
  const lookups = new WeakMap<MirrorReader, MirrorLookup>();
  const lookupIn = (mirror: MirrorReader): MirrorLookup => {
    const lookup = lookups.get(mirror) ?? prepareLookup(mirror);
    lookups.set(mirror, lookup);
    return lookup;
  };
  const lookupOfAccount = (mirror: MirrorReader, { identity } = mirror): MirrorLookup => {
    if (!lookups.has(mirror)) {
      const { file } = mirror;
      requireIdentity(file, mirror.identity, {
        ...mirror.identity,
        area: "account",
        baseUrl: identity.baseUrl,
      });
    }
    return lookupIn(mirror);
  };
  const read: ApiMirrors["read"] = (withAccount, use) =>
    readIfHeld(catalogue, asOf, (shared) => {
      const found = shared && lookupIn(shared);
      if (!account || !withAccount) return use({ catalogue: found, account: account && { mirror: null } });
      return readIfHeld(account, pointOfAccount(asOf, shared), (own) => {
        const mirror = own && lookupOfAccount(own, shared ?? own);
        return use({ catalogue: found, account: { mirror } });
      });
    });
  read(true, () => {});
  return {
    read,
    version: catalogue.dataVersion,
    close() {
      catalogue.close();
      account?.close();
    },
  };
}

/** Calls `use` with null if there is no mirror, or none was begun at the point. */
function readIfHeld<Result>(
  served: ServedMirror,
  point: Point | undefined,
  use: (mirror: MirrorReader | null) => Result,
): Result {
  let isHeld = false;
  try {
    return served.readInTurn(point, (mirror) => {
      isHeld = true;
      return use(mirror);
    });
  } catch (error) {
    if (isHeld || !isMissing(error)) throw error;
  }
  return use(null);
}

function isMissing(error: unknown): boolean {
  if (error instanceof PointError) return error.code === "too-early";
  return error instanceof MirrorError && error.code === "not-found";
}

/** Runs of two mirrors have nothing in common but time. */
function pointOfAccount(asOf: Point | undefined, catalogue: MirrorReader | null): Point | undefined {
  const endedAt = catalogue?.asOf?.endedAt;
  if (asOf === undefined || asOf.kind === "time" || endedAt === undefined) return asOf;
  return { kind: "time", from: endedAt, at: endedAt, text: endedAt, timeZone: null };
}
