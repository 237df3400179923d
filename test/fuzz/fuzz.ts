/**
 * `npm run fuzz -- [--target NAME]… [--seconds N] [--idle-seconds N] [--seed N] [--keep]`: fuzzes each parser, and stores the
 * inputs that break one or take long; with `--keep` also those with new branches, as seeds. Seconds are processor time.
 */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startCoverage } from "./support/coverage.ts";
import { findNewSeeds, fuzz, type Target } from "./support/fuzz.ts";

// Loaded after the counting has begun.
const coverage = startCoverage();
const { targets } = await import("./targets.ts");

const { values } = parseArgs({
  options: {
    target: { type: "string", multiple: true, default: Object.keys(targets) },
    seconds: { type: "string", default: "60" },
    /** Ends a target earlier, after this time without a new branch. */
    "idle-seconds": { type: "string", default: "Infinity" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
    keep: { type: "boolean", default: false },
  },
});

const maxSeedBytes = 4096;
const maxProcessorMillis = 2_000;

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** A target for which an input that takes long is a finding, by processor time. */
const timed = ({ run, seeds }: Target): Target => ({
  seeds,
  async run(input) {
    const takesLong = async () => {
      const before = process.cpuUsage();
      await run(input);
      return process.cpuUsage(before).user > maxProcessorMillis * 1000;
    };
    // Once may be the garbage of the inputs before.
    if ((await takesLong()) && (await takesLong())) throw new Error("an input of at most 64 KiB takes long");
  },
});

function write(folder: string, input: Buffer): string {
  const file = join(folder, createHash("sha256").update(input).digest("hex").slice(0, 16));
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, input);
  return file;
}

print(`seed ${values.seed}, at most ${values.seconds} seconds a target`);
for (const name of values.target) {
  const target = targets[name];
  if (target === undefined)
    throw new Error(`no target ${name}; there are ${Object.keys(targets).join(", ")}`);
  const start = process.cpuUsage();
  // Processor time, so that other work on the machine does not shorten the search.
  const seconds = () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  };
  const last = { branches: 0, at: 0 };
  const isOver = (_executions: number, _findings: number, branches: number) => {
    if (branches > last.branches) Object.assign(last, { branches, at: seconds() });
    return seconds() > Number(values.seconds) || seconds() - last.at > Number(values["idle-seconds"]);
  };
  const report = await fuzz(timed(target), coverage, Number(values.seed), isOver);
  const { executions, branches, features, kept, findings } = report;
  const seeds = findNewSeeds(report, target.seeds.length, maxSeedBytes);
  print(
    `${name}: ${Math.round(seconds())} seconds, ${executions} executions, ${branches} branches (the last after ` +
      `${Math.round(last.at)} seconds), ${features} with magnitudes of counts, ${kept.length} inputs kept, ` +
      `${seeds.length} of them with new branches, ${findings.length} findings`,
  );
  if (values.keep) for (const input of seeds) write(join(import.meta.dirname, "seeds", name), input);
  for (const { input, error } of findings) {
    print(
      `${write(join(import.meta.dirname, "findings", name), input)}\n${error instanceof Error ? error.stack : error}`,
    );
    process.exitCode = 1;
  }
}
