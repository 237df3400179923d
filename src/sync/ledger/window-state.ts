/** What is known of one allowance window: plain data, as it stands in the ledger. */
import type { Tally } from "./learn-what-is-free.ts";
import type { Moment } from "./moment.ts";

export interface WindowState {
  /** Numbers leases and settlements in the order in which they happened; what is later is told by it, never by clocks. */
  readonly seq: number;
  /** When the newest reading was settled, or this window began without one. */
  readonly readingSeq: number;
  /** Requests a window: as told, or what the window before this one granted until it refused. */
  readonly limit: number | null;
  /** Left as told; null until something was told. */
  readonly remaining: number | null;
  /** When the window ends, as told. */
  readonly resetAt: Moment | null;
  /** Whether the service itself has told what remains in this window. */
  readonly isTold: boolean;
  /** Whether any answer has come in this window. */
  readonly isAnswered: boolean;
  readonly isRefused: boolean;
  /** Our own count in this window: what was surely counted, and what may have been. */
  readonly counted: { readonly least: number; readonly most: number };
  /** Epoch milliseconds. */
  readonly firstCountedAt: number | null;
  /** Not to be asked before this moment (`Retry-After`). */
  readonly blockedUntil: Moment | null;
  /** Open leases of each session. */
  readonly open: Readonly<Record<string, number>>;
  /**
   * Spent since without being told: answers that said nothing, no answers at all, leases of processes that have died;
   * until a request that was leased after `seq` says what remains.
   */
  readonly untold: { readonly requests: number; readonly seq: number };
  /** Null until learned. */
  readonly isFree304: boolean | null;
  readonly isFreeRoot: boolean | null;
  /** What was asked since the last moment at which nothing was under way and what remains was known. */
  readonly tally: Tally | null;
}

export const emptyWindow: WindowState = {
  seq: 0,
  readingSeq: 0,
  limit: null,
  remaining: null,
  resetAt: null,
  isTold: false,
  isAnswered: false,
  isRefused: false,
  counted: { least: 0, most: 0 },
  firstCountedAt: null,
  blockedUntil: null,
  open: {},
  untold: { requests: 0, seq: 0 },
  isFree304: null,
  isFreeRoot: null,
  tally: null,
};
