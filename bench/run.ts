/** `npm run bench [-- SUITE …]`: runs the named suites, or all but `scale`, which takes an hour or more. */
import { benchAllowance } from "./allowance/allowance.ts";
import { benchChange } from "./change/change.ts";
import { benchExport } from "./export/export.ts";
import { benchScale } from "./scale/scale.ts";
import { benchServe } from "./serve/serve.ts";
import { benchSnapshot } from "./snapshot/snapshot.ts";
import { benchStart } from "./start/start.ts";
import { benchWalk } from "./walk/walk.ts";
import { benchWorkers } from "./workers/workers.ts";

const suites: Readonly<Record<string, (print: (text: string) => void) => Promise<void>>> = {
  allowance: benchAllowance,
  change: benchChange,
  export: benchExport,
  scale: benchScale,
  serve: benchServe,
  snapshot: benchSnapshot,
  start: benchStart,
  walk: benchWalk,
  workers: benchWorkers,
};

const requested =
  process.argv.length > 2 ? process.argv.slice(2) : Object.keys(suites).filter((name) => name !== "scale");
for (const name of requested) {
  const suite = suites[name];
  if (suite === undefined) {
    process.stderr.write(
      `Unknown suite ${JSON.stringify(name)}. Suites: ${Object.keys(suites).join(", ")}.\n`,
    );
    process.exit(2);
  }
  process.stdout.write(`\n${name}\n\n`);
  await suite((text) => void process.stdout.write(text));
}
