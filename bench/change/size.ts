/** The size of the file with its whole history, compared with the newest bodies. */
import { statSync } from "node:fs";
import { kinds } from "../../jobs/kinds.ts";
import { compactMirror } from "../../src/mirror/compact.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";

const maxRatio = 1.3;

export async function benchSize(file: string): Promise<BenchmarkResult> {
  const before = statSync(file).size;
  await compactMirror({ file, kinds, openedAt: new Date().toISOString() });
  const after = statSync(file).size;
  const mirror = openMirrorReader(file);
  const [newest, count, all] = mirror.db
    .prepare<[], [number, number, number]>(
      `select sum(c.size) filter (where v.seq = (select max(seq) from _revision where resource_id = v.resource_id)),
         count(*), sum(c.size) from _revision v join _content c on c.id = v.content_id`,
    )
    .raw()
    .get() as [number, number, number];
  const largest = mirror.db
    .prepare<[], { name: string; bytes: number }>(
      `select coalesce(s.tbl_name, d.name) as name, sum(d.pgsize) as bytes from dbstat d left join sqlite_schema s on s.name = d.name
       group by 1 order by 2 desc limit 12`,
    )
    .all();
  mirror.close();
  const mebibytes = (bytes: number) => (bytes / 1_048_576).toFixed(1);
  const row = (name: string, bytes: number) => [name, mebibytes(bytes), (bytes / newest).toFixed(2)];
  return {
    title: `Size, with ${formatCount(count)} revisions`,
    headings: ["", "MiB", "÷ newest bodies"],
    rows: [
      row("newest bodies, as sent", newest),
      row("all bodies, as sent", all),
      row("the file, before `mirror compact`", before),
      row("the file, after `mirror compact`", after),
      ...largest.map(({ name, bytes }) => row(`  ${name}, with its indexes`, bytes)),
    ],
    targets: [
      {
        target: `the file with its whole history ≤ ${maxRatio} × the newest bodies as sent`,
        measured: (after / newest).toFixed(2),
        isMet: after <= maxRatio * newest,
      },
    ],
  };
}
