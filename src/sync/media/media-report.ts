/** What downloading pictures did: a member of the object that `sync --json` prints. */
import type { StopReason } from "../../mirror/runs/runs.ts";

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
