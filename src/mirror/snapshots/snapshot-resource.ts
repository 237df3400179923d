/**
 * What a shared snapshot says: the contract between the archive that holds it and the mirror that loads it. Plain data; the
 * archive has verified all of it before it is read here.
 */
import type { KeptHeaders } from "../../service/fetch-result.ts";

/** The kind of credential with which the snapshot's mirror was fetched. A validator may belong to one kind of credential. */
export type SeenBy = "none" | "app" | "token";

export interface SnapshotDescription {
  /** Lower-case hexadecimal. */
  readonly rootHash: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. */
  readonly serviceName: string;
  /** ISO 8601, the beginning of a day in UTC. */
  readonly takenOn: string;
  readonly seenBy: SeenBy;
  /** The file's name or its URL, for the user. */
  readonly source: string;
  /** The fingerprint of the key that signed it; null if it is not signed. */
  readonly signedBy: string | null;
  /** Its number in a published folder; null outside of one. */
  readonly sequence: number | null;
  /** The root hash of the snapshot that an increment adds to; absent for a whole one. */
  readonly continues?: string;
  /** Tells the published folder that it was followed in from others; absent for a file that was given by name. */
  readonly line?: string;
  /** A digest of where that folder is; absent for a file that was given by name. */
  readonly folder?: string;
}

/** A resource as the snapshot's mirror held it last. */
export interface SnapshotResource {
  readonly url: string;
  /** For comparison only: the links of a mirror decide the kinds of its resources. */
  readonly kind: string;
  /** The final address, if it was redirected. */
  readonly finalUrl?: string;
  /** Of HTTP. */
  readonly status: number;
  /** The validator: a tag, or a `Last-Modified`. */
  readonly etag: string | null;
  readonly headers: KeptHeaders;
  /** When the service last sent or confirmed the body: ISO 8601, the beginning of a day in UTC. */
  readonly fetchedAt: string;
  /** When it was found to be gone: ISO 8601, the beginning of a day in UTC; null while it is there. */
  readonly goneAt: string | null;
  /** Of the body, if it is proven. */
  readonly sha256?: Buffer;
  /** The body as sent; of a tombstone the last one. A body that is not asked for need not be decompressed. */
  readonly readBody: () => Promise<Uint8Array>;
}

export interface SnapshotSource {
  readonly description: SnapshotDescription;
  /** How many resources it has, and of which kinds; absent if it must be read for that. */
  readonly contents?: { readonly count: number; readonly kinds: ReadonlySet<string> };
  /**
   * Owners before what they own, as far as that is known. The pages of one list may come in any order. It can be iterated
   * several times.
   */
  readonly resources: () => AsyncIterable<SnapshotResource>;
}
