/** How much the random tests try: some of it in the suite, since everybody waits for it; all of it in `npm run thorough`. */
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Told by `vitest.config.ts`. */
    readonly isThorough: boolean;
  }
}

export const isThorough = inject("isThorough");

/** @param usual enough to see each kind of case in the suite @param thorough as much as gives trust in the rare ones */
export const tries = (usual: number, thorough: number): number => (isThorough ? thorough : usual);
