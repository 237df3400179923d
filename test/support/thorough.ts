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
 * The steps at which a process is killed or a call fails: in the suite every third one, from a random one that the title of a test has to
 * show; in `npm run thorough` each one.
 */
export const killStride = isThorough ? 1 : 3;
export const firstKill = 1 + Math.floor(Math.random() * killStride);

/** @param usual enough for each kind of case @param thorough enough for rare cases */
export const tries = (usual: number, thorough: number): number => (isThorough ? thorough : usual);
