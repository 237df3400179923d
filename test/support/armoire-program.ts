import { join } from "node:path";

/** The file that Node.js runs as `armoire`: never `dist/`, which may be old. Without `bundle-program.ts` the sources. */
export const armoireProgram =
  process.env.ARMOIRE_TESTS_PROGRAM ?? join(import.meta.dirname, "armoire-from-sources.ts");
