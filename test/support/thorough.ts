/** The number of cases of random tests: few in the suite, many in `npm run thorough`. */
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Set by `vitest.config.ts`. */
    readonly isThorough: boolean;
  }
}

export const isThorough = inject("isThorough");

/**
 * The steps at which a process is killed or a call fails: in the suite every fifth one, from a random one that the title of a test has to
 * show; in `npm run thorough` each one.
 */
export const killStride = isThorough ? 1 : 5;
export const firstKill = 1 + Math.floor(Math.random() * killStride);

/** All of the cases in `npm run thorough`; in the suite at most `usual`, others each time: the titles have to name them. */
export function someOf<Case>(cases: readonly Case[], usual: number): Case[] {
  if (isThorough) return [...cases];
  const rest = [...cases];
  return Array.from({ length: Math.min(usual, rest.length) }, () =>
    rest.splice(Math.floor(Math.random() * rest.length), 1),
  ).flat();
}

/** @param usual enough for each kind of case @param thorough enough for rare cases */
export const tries = (usual: number, thorough: number): number => (isThorough ? thorough : usual);
