/**
 * A mirror of any size with a year of history: a first crawl and twelve monthly checks of everything, each after a twentieth of
 * the entities has changed. Responses go directly into the mirror: there is no HTTP, no allowance and no plan. All else is as
 * in a sync: the choice of what is due, ingest, compression, and the end of a run.
 */
import { statSync } from "node:fs";
import type { MirrorWriter } from "../../src/mirror/writer.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { type Bodies, beginRun, closeRun, ingestAll, months, openNew } from "../change/months.ts";
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

/** The sandbox's catalogue of real size, and the number of its resources. */
const real = { brands: 683, models: 13_000, sizes: 90_000 };
const realResources = 117_865;

/** In one of so many entities something changes in a month. */
const changedOneOf = 20;

/**
 * @param resources about as many
 * @param measure called while the service runs, as it was on the first day
 */
export async function fillMirror<Result>(
  file: string,
  resources: number,
  measure: (filled: Filled, baseUrl: string) => Promise<Result>,
): Promise<Result> {
  const scale = (count: number) => Math.max(1, Math.round((count * resources) / realResources));
  const totals = { brands: scale(real.brands), models: scale(real.models), sizes: scale(real.sizes) };
  await using sandbox = await startSandbox({ ...totals, allowance: null });
  const mirror = await openNew(file, sandbox.url);
  const bodies = new Map<string, Buffer>();
  const entities: string[] = [];
  for (const { url, body } of sandbox.truth()) {
    bodies.set(url, Buffer.from(JSON.stringify(body)));
    if (body.rel === "entity") entities.push(url);
  }
  const firstCrawl = performRun(mirror, bodies);
  const firstBytes = statSync(file).size;
  note(`${formatCount(bodies.size)} resources: ${describe(firstCrawl, file)}`);
  const check = { ingest: 0, compression: 0 };
  for (let month = 1; month <= months; month++) {
    changeSome(bodies, entities, month);
    const work = performRun(mirror, bodies);
    check.ingest += work.ingest / months;
    check.compression += work.compression / months;
    note(`  month ${month} of ${months}: ${describe(work, file)}`);
  }
  const count = (table: string) => Number(mirror.db.prepare(`select count(*) from ${table}`).pluck().get());
  const counts = { resources: count("_resource"), revisions: count("_revision") };
  await mirror.close();
  const { size: bytes } = statSync(file);
  return await measure({ ...counts, firstCrawl, check, firstBytes, bytes }, sandbox.url);
}

/** One bra more of a twentieth of the entities, others each month. */
function changeSome(bodies: Map<string, Buffer>, entities: readonly string[], month: number): void {
  for (let index = month; index < entities.length; index += changedOneOf) {
    const url = entities[index] ?? "";
    const envelope = JSON.parse(String(bodies.get(url)));
    envelope.body.bra_count += 1;
    bodies.set(url, Buffer.from(JSON.stringify(envelope)));
  }
}

/** Progress, on standard error. */
export const note = (text: string): void => void process.stderr.write(`${text}\n`);

const describe = ({ ingest, compression }: Work, file: string): string =>
  `${Math.round(ingest + compression)} s, ${formatCount(Math.round(statSync(file).size / 2 ** 20))} MiB`;

function performRun(mirror: MirrorWriter, bodies: Bodies): Work {
  const ingest = timeProcessor(() => {
    const runId = beginRun(mirror);
    closeRun(mirror, runId, ingestAll(mirror, bodies, runId));
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
