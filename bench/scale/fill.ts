/**
 * A mirror of any size with a year of history: a first crawl and twelve monthly checks of everything, each after changes in
 * about a twentieth. Responses go directly into the mirror, so there is no HTTP, no allowance and no plan; all else is as in
 * a sync: what is due, ingest, compression, and the end of a run.
 */
import { statSync } from "node:fs";
import type { MirrorWriter } from "../../src/mirror/writer.ts";
import { beginRun, closeRun, eachMonth, ingestAll, months, openNew } from "../change/months.ts";
import { formatCount } from "../results.ts";

export interface Filled {
  readonly resources: number;
  readonly revisions: number;
  readonly firstCrawl: Work;
  /** One of the monthly checks, on average. */
  readonly check: Work;
  /** Bytes of the file after the first crawl, and after the year. */
  readonly firstBytes: number;
  readonly bytes: number;
}

/** Seconds of the processor. */
interface Work {
  readonly ingest: number;
  readonly compression: number;
}

/** The size of the sandbox's catalogue of real size, in resources. */
const realResources = 117_865;
const real = { brands: 683, models: 13_000, sizes: 90_000 };

/**
 * @param resources about as many
 * @param measure called while the service of the finished mirror runs
 */
export async function fillMirror<Result>(
  file: string,
  resources: number,
  measure: (filled: Filled, baseUrl: string) => Promise<Result>,
): Promise<Result> {
  const scale = (count: number) => Math.max(1, Math.round((count * resources) / realResources));
  const catalogue = {
    ...{ brands: scale(real.brands), models: scale(real.models), sizes: scale(real.sizes) },
    allowance: null,
  };
  const edits = { additions: scale(100), removals: scale(25) };
  const checks: Work[] = [];
  let firstBytes = 0;
  let mirror: MirrorWriter | null = null;
  for await (const { month, bodies, baseUrl } of eachMonth(edits, catalogue)) {
    mirror ??= await openNew(file, baseUrl);
    const work = performRun(mirror, bodies);
    const { size } = statSync(file);
    note(
      `${formatCount(bodies.size)} resources, month ${month} of ${months}: ${Math.round(work.ingest + work.compression)} s, ${toMebibytes(size)} MiB`,
    );
    checks.push(work);
    if (month === 0) firstBytes = size;
    if (month < months) continue;
    const count = (table: string) =>
      Number(mirror?.db.prepare(`select count(*) from ${table}`).pluck().get());
    const counts = { resources: count("_resource"), revisions: count("_revision") };
    await mirror.close();
    const [firstCrawl = noWork, ...later] = checks;
    const mean = (part: keyof Work) => later.reduce((sum, one) => sum + one[part], 0) / later.length;
    const check = { ingest: mean("ingest"), compression: mean("compression") };
    return await measure({ ...counts, firstCrawl, check, firstBytes, bytes: statSync(file).size }, baseUrl);
  }
  throw new Error("the service had no last month");
}

const noWork: Work = { ingest: 0, compression: 0 };

/** Progress, on standard error. */
export const note = (text: string): void => void process.stderr.write(`${text}\n`);

export const toMebibytes = (bytes: number): string => formatCount(Math.round(bytes / 2 ** 20));

function performRun(mirror: MirrorWriter, bodies: Parameters<typeof ingestAll>[1]): Work {
  const ingest = timeProcessor(() => {
    const runId = beginRun(mirror);
    ingestAll(mirror, bodies, runId);
    closeRun(mirror, runId);
  });
  const compression = timeProcessor(() => {
    while (mirror.compressBatch() > 0);
    mirror.db.pragma("wal_checkpoint(truncate)");
  });
  return { ingest, compression };
}

function timeProcessor(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
