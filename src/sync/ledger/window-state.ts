/** What is known of one allowance window: plain data, as it stands in the ledger. */
import type { Tally } from "./learn-what-is-free.ts";
import type { Moment } from "./moment.ts";
import { type Granted, noSorts, type Sorts } from "./sorts.ts";

export interface WindowState {
  /** Numbers leases and settlements in the order in which they happened; what is later is told by it, never by clocks. */
  readonly seq: number;
  /** When the newest reading was settled, or this window began without one. */
  readonly readingSeq: number;
  /** Requests a window: as told, or what the window before this one granted until it refused. */
  readonly limit: number | null;
  /** How much of a limit that was learned is no matter of what a 304 costs; null for one that was told. */
  readonly surelyGranted: number | null;
  /** Since when a limit that was learned is believed, in epoch milliseconds; null for one that was told. */
  readonly limitLearnedAt: number | null;
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
  /** When something was surely counted first, in epoch milliseconds. */
  readonly firstCountedAt: number | null;
  /** When something was asked first that was counted, or is taken for it. */
  readonly firstAskedAt: number | null;
  /** Whether answers themselves tell what remains; null until there was one. */
  readonly isTelling: boolean | null;
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
  /** What was asked in this window, by what it may cost. */
  readonly sorts: Sorts;
  /** Plain answers in the window before, where the service may count them in this one. */
  readonly plainBefore: number;
  /** The window to which this one is compared where nothing is told. */
  readonly granted: Granted | null;
}

export const emptyWindow: WindowState = {
  seq: 0,
  readingSeq: 0,
  limit: null,
  surelyGranted: null,
  limitLearnedAt: null,
  remaining: null,
  resetAt: null,
  isTold: false,
  isAnswered: false,
  isRefused: false,
  counted: { least: 0, most: 0 },
  firstCountedAt: null,
  firstAskedAt: null,
  isTelling: null,
  blockedUntil: null,
  open: {},
  untold: { requests: 0, seq: 0 },
  isFree304: null,
  isFreeRoot: null,
  tally: null,
  sorts: noSorts,
  plainBefore: 0,
  granted: null,
};

/** A service that has granted as many without telling a limit has none that matters: those known are 30 to 300 a day. */
const boundlessAfter = 1_000;

/** Whether so much was granted without telling a limit that there is none that matters. */
export function isBoundless({ remaining, limit, counted }: WindowState): boolean {
  return remaining === null && limit === null && counted.most >= boundlessAfter;
}

export function openLeases({ open }: WindowState): number {
  return Object.values(open).reduce((sum, leases) => sum + leases, 0);
}
