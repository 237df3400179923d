/** Downloads the pictures of one origin, a few at a time, and stores each at once. A failed picture affects no other. */
import { limits } from "../../../schema/input/limits.ts";
import { hasPicture } from "../../mirror/media/media-files.ts";
import { goneError, type KnownPicture, type PictureResult } from "../../mirror/media/media-index.ts";
import type { StopReason } from "../../mirror/runs/runs.ts";
import type { MirrorWriter } from "../../mirror/writer.ts";
import { ServiceError } from "../../service/errors.ts";
import type { FetchedPicture, PictureClient } from "../../service/pictures/client.ts";

export interface PictureWork {
  readonly mirror: MirrorWriter;
  readonly client: Pick<PictureClient, "fetch">;
  /** Updated after each picture. */
  readonly counts: MediaCounts;
  /** Updated after each picture. */
  readonly space: { bytesLeft: number };
  readonly concurrency: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Once true, no more requests are made. */
  readonly isStopping: () => boolean;
  /** Cancels running requests. */
  readonly signal: AbortSignal;
}

/** @throws errors that concern more than one picture: MirrorError, LedgerError, system errors */
export async function fetchPictures(pictures: readonly KnownPicture[], work: PictureWork): Promise<void> {
  const { mirror, counts, concurrency, isStopping } = work;
  const queue = pictures.values();
  let isRefused = false;
  const drainQueue = async (): Promise<void> => {
    for (const picture of queue) {
      if (isRefused || isStopping()) {
        counts.pending++;
        continue;
      }
      const result = await fetchPicture(picture, work);
      if (result === "refused") {
        counts.pending++;
        isRefused = true;
        continue;
      }
      const stored = storePicture(picture, result, work);
      const [isChanged = false] = mirror.recordPictures([stored]);
      counts[outcomeOf(picture, result, stored, isChanged)]++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, drainQueue));
}

/** Those at more hosts than are asked: a service could name any number. */
export function refusePictures(
  pictures: readonly KnownPicture[],
  { mirror, counts, now }: Pick<PictureWork, "mirror" | "counts" | "now">,
): void {
  const error = `not requested: ${limits.pictureHosts} hosts have more pictures`;
  const at = now();
  mirror.recordPictures(pictures.map(({ id }) => ({ id, at, outcome: "none", error })));
  counts.failed += pictures.length;
}

interface FailedPicture {
  readonly outcome: "failed";
  readonly error: string;
}

/** @returns `refused` if further requests would be refused as well */
async function fetchPicture(
  picture: KnownPicture,
  { mirror, client, space, signal }: PictureWork,
): Promise<FetchedPicture | FailedPicture | "refused"> {
  const { url, sha256, type, size } = picture;
  if (space.bytesLeft <= 0)
    return { outcome: "failed", error: "not requested, because the pictures take as much space as they may" };
  // A conditional request makes sense only if the old picture is still there.
  const isHeld =
    sha256 !== null && type !== null && size !== null && hasPicture(mirror.file, { sha256, type }, size);
  const { etag, lastModified } = isHeld ? picture : { etag: null, lastModified: null };
  try {
    return await client.fetch({ url, etag, lastModified, signal });
  } catch (error) {
    if (signal.aborted) return "refused";
    if (!(error instanceof ServiceError)) throw error;
    return error.next === "stop-allowance" ? "refused" : { outcome: "failed", error: error.detail };
  }
}

function storePicture(
  { id }: KnownPicture,
  result: FetchedPicture | FailedPicture,
  { mirror, counts, space, now }: PictureWork,
): PictureResult {
  const at = now();
  const none = (error: string): PictureResult => ({ id, at, outcome: "none", error });
  if (result.outcome === "failed") return none(result.error);
  if (result.outcome === "gone") return none(goneError(result.status));
  if (result.outcome === "not-modified") return { id, at, ...result };
  const { bytes, ...facts } = result;
  if (bytes.byteLength > space.bytesLeft)
    return none("not stored, because the pictures would take more space than they may");
  const sha256 = mirror.storePicture(bytes, facts.type);
  space.bytesLeft -= bytes.byteLength;
  counts.bytes += bytes.byteLength;
  return { id, at, ...facts, sha256, size: bytes.byteLength };
}

function outcomeOf(
  picture: KnownPicture,
  result: FetchedPicture | FailedPicture,
  stored: PictureResult,
  isChanged: boolean,
): "new" | "changed" | "unchanged" | "gone" | "failed" {
  if (stored.outcome === "none") return result.outcome === "gone" ? "gone" : "failed";
  if (!isChanged) return "unchanged";
  return picture.sha256 === null ? "new" : "changed";
}

/** The result of downloading pictures: a member of the object that `sync --json` prints. */
export interface MediaReport {
  readonly pictures: Readonly<MediaCounts>;
  /** Those that are asked, including the service's own; the origin with most pictures first. */
  readonly origins: readonly PictureOrigin[];
  /** `counted`: requests to the service's own origin, which may spend an allowance. */
  readonly requests: { readonly sent: number; readonly counted: number };
  /** Why it ended although pictures were due; null if none was. */
  readonly stopped: Extract<StopReason, "budget" | "allowance" | "interrupted"> | null;
}

export interface PictureOrigin {
  /** As in URLs: scheme, host and port. */
  readonly origin: string;
  /** The number of pictures there that the account refers to. */
  readonly pictures: number;
}

export interface MediaCounts {
  /** Downloaded for the first time. */
  new: number;
  /** Downloaded before with other bytes. */
  changed: number;
  /** Found to be as held. */
  unchanged: number;
  /** No longer at their address; an earlier download stays. */
  gone: number;
  /** Their request failed; an earlier download stays. */
  failed: number;
  /** Not requested, because the run stopped or their host throttled it. */
  pending: number;
  /** Downloaded bytes. */
  bytes: number;
}

export const emptyCounts = (): MediaCounts => ({
  new: 0,
  changed: 0,
  unchanged: 0,
  gone: 0,
  failed: 0,
  pending: 0,
  bytes: 0,
});
