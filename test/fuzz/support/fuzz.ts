/**
 * A fuzzer guided by coverage. In: a target and its seeds. Out: how much it ran, and the inputs that broke the target. An input
 * that runs a branch that none before it ran, or runs one more often, is kept and changed further.
 */
import { branchOf, type Coverage } from "./coverage.ts";
import { mutate, mutations } from "./mutate.ts";

export interface Target {
  /** Throws for a bug only; what the program reports to a user is no bug. */
  readonly run: (input: Buffer) => unknown;
  readonly seeds: readonly Buffer[];
}

export interface Finding {
  readonly input: Buffer;
  readonly error: unknown;
}

/** An input with the features that it has. */
interface Kept {
  readonly input: Buffer;
  readonly features: readonly number[];
}

export interface FuzzReport {
  readonly executions: number;
  /** Distinct branches that ran. */
  readonly branches: number;
  /** Distinct branches, each with the magnitude of its count. */
  readonly features: number;
  /** The seeds, then the inputs with a new feature. */
  readonly kept: readonly Kept[];
  readonly findings: readonly Finding[];
}

const batchSize = 50;
const maxFindings = 10;

/** @param isOver asked between batches, with the numbers of executions, findings and branches so far */
export async function fuzz(
  { run, seeds }: Target,
  coverage: Coverage,
  seed: number,
  isOver: (executions: number, findings: number, branches: number) => boolean,
): Promise<FuzzReport> {
  const corpus: Kept[] = [];
  const branches = new Set<number>();
  const features = new Set<number>();
  const findings = new Map<string, Finding>();
  let executions = 0;

  const execute = async (input: Buffer): Promise<void> => {
    executions++;
    try {
      await run(input);
    } catch (error) {
      const kind =
        error instanceof Error ? (error.stack ?? "").split("\n").slice(0, 3).join("\n") : String(error);
      if (!findings.has(kind)) findings.set(kind, { input, error });
    }
  };
  const keepIfNew = async (input: Buffer): Promise<void> => {
    coverage.take();
    await execute(input);
    const before = features.size;
    const taken = coverage.take();
    for (const feature of taken) {
      features.add(feature);
      branches.add(branchOf(feature));
    }
    if (features.size > before || corpus.length < seeds.length) corpus.push({ input, features: taken });
  };
  const hasNew = (taken: readonly number[]) => taken.some((feature) => !features.has(feature));

  for (const input of seeds) await keepIfNew(input);
  for (
    let round = 0;
    !isOver(executions, findings.size, branches.size) && findings.size < maxFindings;
    round++
  ) {
    const inputs = mutations(batchSize, seed + round).map(({ of, from, changes }) => {
      const [input, other] = [of, from].map(
        (at) => corpus[Math.floor(at * corpus.length)]?.input ?? Buffer.alloc(0),
      );
      return mutate(input ?? Buffer.alloc(0), other ?? Buffer.alloc(0), changes);
    });
    coverage.take();
    for (const input of inputs) await execute(input);
    // One measurement for many inputs; only a batch with something new is run again, one by one.
    if (hasNew(coverage.take())) for (const input of inputs) await keepIfNew(input);
  }
  return {
    executions,
    branches: branches.size,
    features: features.size,
    kept: corpus,
    findings: [...findings.values()],
  };
}

/** Of the inputs kept, few and small ones that together run each branch that the seeds do not. */
export function findNewSeeds({ kept }: FuzzReport, seedCount: number, maxBytes: number): Buffer[] {
  const covered = new Set(kept.slice(0, seedCount).flatMap(({ features }) => features.map(branchOf)));
  const found = kept.slice(seedCount).filter(({ input }) => input.length <= maxBytes);
  return found
    .sort((a, b) => a.input.length - b.input.length)
    .filter(({ features }) => {
      const before = covered.size;
      for (const feature of features) covered.add(branchOf(feature));
      return covered.size > before;
    })
    .map(({ input }) => input);
}
