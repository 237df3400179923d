/** Downloads the pictures of one origin, a few at a time, and keeps each as it comes; one that fails stops no other. */
import { hasPicture } from "../../mirror/media/media-files.ts";
import { goneError, type KnownPicture, type PictureAnswer } from "../../mirror/media/media-index.ts";
import type { StopReason } from "../../mirror/runs/runs.ts";
import type { MirrorWriter } from "../../mirror/writer.ts";
import { ServiceError } from "../../service/errors.ts";
import type { FetchedPicture, PictureClient } from "../../service/pictures/client.ts";

export interface PictureWork {
  readonly mirror: MirrorWriter;
  readonly door: Pick<PictureClient, "fetch">;
  readonly counts: MediaCounts;
  /** Bytes that may still be kept; spent as they are. */
  readonly room: { bytes: number };
  readonly concurrency: number;
  readonly now: () => number;
  /** Begins nothing more once it is so. */
  readonly isStopping: () => boolean;
  /** Cancels what is under way. */
  readonly signal: AbortSignal;
}

/** @throws what is no matter of a single picture: MirrorError, LedgerError, a system error */
export async function fetchPictures(pictures: readonly KnownPicture[], work: PictureWork): Promise<void> {
  const { mirror, counts, concurrency, isStopping } = work;
  const waiting = pictures.values();
  let isRefused = false;
  const takeTurns = async (): Promise<void> => {
    for (const picture of waiting) {
      if (isRefused || isStopping()) {
        counts.pending++;
        continue;
      }
      const fetched = await ask(picture, work);
      if (fetched === "pending") {
        counts.pending++;
        isRefused = true;
        continue;
      }
      const answer = keep(picture, fetched, work);
      const isChanged = mirror.recordPicture(answer);
      counts[outcomeOf(picture, fetched, answer, isChanged)]++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, takeTurns));
}

/** `pending` where asking for more would be refused as well. */
async function ask(
  picture: KnownPicture,
  { mirror, door, room, signal }: PictureWork,
): Promise<FetchedPicture | string | "pending"> {
  const { url, sha256, size } = picture;
  if (room.bytes <= 0) return "not asked, because the pictures take as much room as they may already";
  // Whether something is new is worth asking only where the old is still there.
  const isHeld = sha256 !== null && size !== null && hasPicture(mirror.file, sha256, size);
  const { etag, lastModified } = isHeld ? picture : { etag: null, lastModified: null };
  try {
    return await door.fetch({ url, etag, lastModified, signal });
  } catch (error) {
    if (signal.aborted) return "pending";
    if (!(error instanceof ServiceError)) throw error;
    return error.next === "stop-allowance" ? "pending" : error.detail;
  }
}

function keep(
  { id }: KnownPicture,
  fetched: FetchedPicture | string,
  { mirror, counts, room, now }: PictureWork,
): PictureAnswer {
  const at = now();
  const none = (error: string): PictureAnswer => ({ id, at, outcome: "none", error });
  if (typeof fetched === "string") return none(fetched);
  if (fetched.outcome === "gone") return none(goneError(fetched.status));
  if (fetched.outcome === "not-modified") return { id, at, ...fetched };
  const { bytes, ...facts } = fetched;
  if (bytes.byteLength > room.bytes)
    return none("not kept, because the pictures would take more room than they may");
  const sha256 = mirror.storePicture(bytes);
  room.bytes -= bytes.byteLength;
  counts.bytes += bytes.byteLength;
  return { id, at, ...facts, sha256, size: bytes.byteLength };
}

function outcomeOf(
  picture: KnownPicture,
  fetched: FetchedPicture | string,
  answer: PictureAnswer,
  isChanged: boolean,
): "new" | "changed" | "unchanged" | "gone" | "failed" {
  if (answer.outcome === "none")
    return typeof fetched !== "string" && fetched.outcome === "gone" ? "gone" : "failed";
  if (!isChanged) return "unchanged";
  return picture.sha256 === null ? "new" : "changed";
}

/** What downloading pictures did: a member of the object that `sync --json` prints. */

/** A place that pictures are at. */
export interface PictureOrigin {
  readonly origin: string;
  /** How many her data refers to there. */
  readonly pictures: number;
}

export interface MediaCounts {
  new: number;
  changed: number;
  unchanged: number;
  /** No longer at their address; what was downloaded before stays. */
  gone: number;
  failed: number;
  /** Not asked for, since the run stopped before or their host asked to wait. */
  pending: number;
  /** That were downloaded. */
  bytes: number;
}

export interface MediaReport {
  readonly pictures: Readonly<MediaCounts>;
  /** The service's own among them, first by where most pictures are. */
  readonly origins: readonly PictureOrigin[];
  /** `counted`: of the service's own origin, where asking without a credential may spend an allowance. */
  readonly requests: { readonly sent: number; readonly counted: number };
  readonly stopped: Extract<StopReason, "budget" | "allowance" | "interrupted"> | null;
}

export const noPictures = (): MediaCounts => ({
  new: 0,
  changed: 0,
  unchanged: 0,
  gone: 0,
  failed: 0,
  pending: 0,
  bytes: 0,
});
