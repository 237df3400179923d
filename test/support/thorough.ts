/** The number of cases of random tests: few in the suite, many in `npm run thorough`. */
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Set by `vitest.config.ts`. */
    readonly isThorough: boolean;
  }
}

export const isThorough = inject("isThorough");

/** @param usual enough for each kind of case @param thorough enough for rare cases */
export const tries = (usual: number, thorough: number): number => (isThorough ? thorough : usual);
