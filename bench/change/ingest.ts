/**
 * The cost of history during a sync: the same responses stored in a normal mirror, and in a mirror
 * without history.
 */
import type { Connection } from "../../src/mirror/file/connection.ts";
import { versionedTables } from "../../src/mirror/rows/versioned-rows.ts";
import type { MirrorWriter } from "../../src/mirror/writer.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";
import { type Bodies, beginRun, closeRun, eachMonth, ingestAll, months, openNew } from "./months.ts";

/**
 * @param file path of the mirror with history, which later benchmarks use
 * @param afterRun called after each run of the mirror without history
 */
export async function benchIngest(
  file: string,
  fileWithoutHistory: string,
  afterRun: (withoutHistory: Connection, run: number) => void,
): Promise<BenchmarkResult> {
  await using opened = new AsyncDisposableStack();
  const mirrors: MirrorWriter[] = [];
  const firstCrawl = [0, 0];
  const laterRuns = [0, 0];
  let stored = 0;
  for await (const { month, bodies, baseUrl } of eachMonth()) {
    if (month === 0) {
      mirrors.push(await openNew(file, baseUrl), await openNew(fileWithoutHistory, baseUrl));
      for (const mirror of mirrors) opened.defer(() => mirror.close());
    }
    // Of the mirror with history, and of the one without.
    const sums = month === 0 ? firstCrawl : laterRuns;
    // Alternating, so that neither is always first.
    for (const index of month % 2 === 0 ? [0, 1] : [1, 0]) {
      const mirror = mirrors[index] as MirrorWriter;
      const performed = performRun(mirror, bodies, index === 1);
      sums[index] = (sums[index] ?? 0) + performed.millis;
      if (index === 0 && month > 0) stored += performed.stored;
      if (index === 1) afterRun(mirror.db, month + 1);
    }
  }
  const ratio = (sums: readonly number[]) => (sums[0] ?? Number.NaN) / (sums[1] ?? Number.NaN);
  const total = [0, 1].map((index) => (firstCrawl[index] ?? 0) + (laterRuns[index] ?? 0));
  const row = (name: string, sums: readonly number[]) => [
    name,
    ...sums.map((millis) => formatCount(Math.round(millis))),
    ratio(sums).toFixed(3),
  ];
  return {
    title: `Ingest with and without history; ${formatCount(stored)} bodies in ${months} months after the first crawl`,
    headings: ["", "with history, ms", "without history, ms", "ratio"],
    rows: [row("first crawl", firstCrawl), row(`${months} months`, laterRuns), row("total", total)],
    targets: [
      {
        target: "ingest with history ≤ 1.10 × without",
        measured: ratio(total).toFixed(3),
        isMet: ratio(total) <= 1.1,
      },
    ],
  };
}

function performRun(mirror: MirrorWriter, bodies: Bodies, withoutHistory: boolean) {
  const runId = beginRun(mirror);
  if (withoutHistory) preventHistory(mirror.db, runId);
  const performed = ingestAll(mirror, bodies, runId);
  const startedAt = performance.now();
  closeRun(mirror, runId, performed);
  return { ...performed, millis: performed.millis + performance.now() - startedAt };
}

/** Assigns all rows to the current run, which then overwrites them instead of adding history. */
function preventHistory(db: Connection, runId: number): void {
  db.exec("drop trigger if exists _resource_history");
  for (const { name } of versionedTables) db.exec(`update ${name} set from_run = ${runId}`);
  db.pragma("wal_checkpoint(truncate)");
}
