/**
 * The cost of history during a sync: the same responses stored in a normal mirror, and in one whose history is removed
 * after every batch.
 */
import type { Connection } from "../../src/mirror/file/connection.ts";
import { versionedTables } from "../../src/mirror/rows/versioned-rows.ts";
import type { MirrorWriter } from "../../src/mirror/writer.ts";
import { type Findings, formatCount } from "../aim.ts";
import { type Bodies, beginRun, closeRun, eachMonth, months, openNew, walk } from "./months.ts";

/**
 * @param file the path of the mirror with history, which is left there
 * @param keep called after each run with the mirror without history, to copy it
 */
export async function benchIngest(
  file: string,
  forgetfulFile: string,
  keep: (forgetful: Connection, run: number) => void,
): Promise<Findings> {
  await using opened = new AsyncDisposableStack();
  const mirrors: MirrorWriter[] = [];
  const firstCrawl = [0, 0];
  const later = [0, 0];
  let stored = 0;
  for await (const { month, bodies, baseUrl } of eachMonth()) {
    if (month === 0) {
      mirrors.push(await openNew(file, baseUrl), await openNew(forgetfulFile, baseUrl));
      for (const mirror of mirrors) opened.defer(() => mirror.close());
    }
    const sums = month === 0 ? firstCrawl : later;
    // Alternating, so that neither is always first.
    for (const which of month % 2 === 0 ? [0, 1] : [1, 0]) {
      const mirror = mirrors[which] as MirrorWriter;
      const walked = performRun(mirror, bodies, which === 1);
      sums[which] = (sums[which] ?? 0) + walked.millis;
      if (which === 0 && month > 0) stored += walked.stored;
      if (which === 1) keep(mirror.db, month + 1);
    }
  }
  const ratio = (sums: readonly number[]) => (sums[0] ?? Number.NaN) / (sums[1] ?? Number.NaN);
  const both = [0, 1].map((which) => (firstCrawl[which] ?? 0) + (later[which] ?? 0));
  const row = (what: string, sums: readonly number[]) => [
    what,
    ...sums.map((millis) => formatCount(Math.round(millis))),
    ratio(sums).toFixed(3),
  ];
  return {
    title: `Ingest, with what was and without; ${formatCount(stored)} bodies came in ${months} months after the first crawl`,
    headings: ["", "remembering, ms", "forgetting, ms", "ratio"],
    rows: [row("first crawl", firstCrawl), row(`${months} months`, later), row("together", both)],
    aims: [
      {
        aim: "ingest with history ≤ 1.10 × without",
        reached: ratio(both).toFixed(3),
        isReached: ratio(both) <= 1.1,
      },
    ],
  };
}

function performRun(mirror: MirrorWriter, bodies: Bodies, isForgetful: boolean) {
  const runId = beginRun(mirror);
  if (isForgetful) forget(mirror.db, runId);
  const walked = walk(mirror, bodies, runId);
  const startedAt = performance.now();
  closeRun(mirror, runId);
  return { ...walked, millis: walked.millis + performance.now() - startedAt };
}

/** Everything looks as if this run had written it, and so as if nobody had seen it. */
function forget(db: Connection, runId: number): void {
  db.exec("drop trigger if exists _resource_history");
  for (const { name } of versionedTables) db.exec(`update ${name} set from_run = ${runId}`);
  db.pragma("wal_checkpoint(truncate)");
}
