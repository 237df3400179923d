/** The `armoire` program from its sources, whether or not `dist/` was built: what `run-armoire.ts` starts. */
import { main } from "../../src/cli/main.ts";

await main(process.argv.slice(2));
