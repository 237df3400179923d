/** How far a sync is, read from the mirror while it runs. */
import type { MirrorReader } from "../mirror/mirror.ts";
import type { AllowanceState, RequestCounts } from "./allowance.ts";

export interface SyncProgress {
  /** Of each kind in the scope that is known by now: how many are held, of how many. */
  readonly kinds: readonly { readonly kind: string; readonly held: number; readonly known: number }[];
  readonly requests: Readonly<RequestCounts>;
  readonly allowance: AllowanceState;
  /** Resources that are due, as far as the mirror knows yet. */
  readonly pending: number;
  readonly seconds: number;
  readonly requestsPerSecond: number;
}

export function countKinds(mirror: MirrorReader, kinds: readonly string[]): SyncProgress["kinds"] {
  const counted = mirror.db
    .prepare<[], { kind: string; known: number; held: number }>(
      `select kind, sum(state in ('due', 'failed', 'held')) as known, sum(state = 'held') as held
       from _resource group by kind`,
    )
    .all();
  return kinds.flatMap((kind) => counted.filter((row) => row.kind === kind && row.known > 0));
}
