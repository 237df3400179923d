/** The ways to disturb a command. */
import { changes, type Disturbance, type Op } from "./operations.ts";
import type { Variant } from "./power-cut.ts";

const reading = ["read"] as const;
const growing = ["create", "write", "makeFolder", "rename", "truncate", "link"] as const;
const opening = ["create", "open", "openForReading"] as const;
const flushing = ["sync", "syncFolder"] as const;

/** Each disturbs every operation of its kinds in turn. */
export const modes = {
  kill: { action: "kill", kinds: changes },
  "torn write, kill": { action: "tear", kinds: ["write"] },
  EIO: { action: "fail", kinds: changes, error: "EIO", isPersistent: false },
  "EIO from then on": { action: "fail", kinds: changes, error: "EIO", isPersistent: true },
  ENOSPC: { action: "fail", kinds: growing, error: "ENOSPC", isPersistent: false },
  "ENOSPC from then on": { action: "fail", kinds: growing, error: "ENOSPC", isPersistent: true },
  EMFILE: { action: "fail", kinds: opening, error: "EMFILE", isPersistent: false },
  "EMFILE from then on": { action: "fail", kinds: opening, error: "EMFILE", isPersistent: true },
  "EIO of a read": { action: "fail", kinds: reading, error: "EIO", isPersistent: false },
  "EIO of fsync, power cut": { action: "fail", kinds: flushing, error: "EIO", isPersistent: false },
  "power cut": { action: "cut", kinds: changes, variant: "flushed" },
  "power cut, names kept": { action: "cut", kinds: changes, variant: "names" },
} as const satisfies Record<string, Mode>;

export type Mode =
  | { readonly action: "kill" | "tear"; readonly kinds: readonly Op[] }
  | Omit<Extract<Disturbance, { action: "fail" }>, "at">
  | { readonly action: "cut"; readonly kinds: readonly Op[]; readonly variant: Variant };

export type ModeName = keyof typeof modes;
export const modeNames = Object.keys(modes) as ModeName[];

export interface Point {
  readonly mode: ModeName;
  /** The number of the operation among those that the mode disturbs, from 1. */
  readonly at: number;
}
