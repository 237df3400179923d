/** `npm run fuzz -- [--target NAME]… [--seconds N] [--seed N]`: fuzzes each parser, and keeps the inputs that break one. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startCoverage } from "./support/coverage.ts";
import { fuzz } from "./support/fuzz.ts";

// Loaded after the counting has begun.
const coverage = startCoverage();
const { targets } = await import("./targets.ts");

const { values } = parseArgs({
  options: {
    target: { type: "string", multiple: true, default: Object.keys(targets) },
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
  },
});

const print = (line: string) => void process.stdout.write(`${line}\n`);
print(`seed ${values.seed}, ${values.seconds} seconds a target`);
for (const name of values.target) {
  const target = targets[name];
  if (target === undefined)
    throw new Error(`no target ${name}; there are ${Object.keys(targets).join(", ")}`);
  const end = performance.now() + Number(values.seconds) * 1000;
  const report = await fuzz(target, coverage, Number(values.seed), () => performance.now() > end);
  const { executions, edges, executionsToLastEdge, kept, findings } = report;
  print(
    `${name}: ${executions} executions, ${edges} edges (the last after ${executionsToLastEdge}), ` +
      `${kept} inputs kept, ${findings.length} findings`,
  );
  for (const { input, error } of findings) {
    const folder = join(import.meta.dirname, "findings", name);
    const file = join(folder, createHash("sha256").update(input).digest("hex").slice(0, 16));
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, input);
    print(`${file}\n${error instanceof Error ? error.stack : error}`);
    process.exitCode = 1;
  }
}
