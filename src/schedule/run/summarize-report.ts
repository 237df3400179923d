/** The numbers of a scheduled command's report. Reports have more fields, which `docs/json-output.md` describes. */
import { z } from "zod";
import { parseJson } from "../schedule.ts";

type Counts = Readonly<Record<string, number>>;

const syncReport = z.object({
  requests: z.object({ counted: z.number() }),
  resources: z.object({
    new: z.number(),
    changed: z.number(),
    gone: z.number(),
    pending: z.number(),
    failed: z.number(),
  }),
});
const syncCounts = syncReport.transform(
  ({ requests, resources }): Counts => ({ ...resources, counted: requests.counted }),
);
/** A backup syncs first, and reports that too. */
const backupCounts = z.object({ sync: syncCounts }).transform(({ sync }) => sync);

const kinds = z
  .array(z.object({ due: z.number(), failed: z.number(), partial: z.number().default(0) }))
  .transform((kinds): Counts => {
    const missing = kinds.reduce((sum, { due, failed }) => sum + due + failed, 0);
    const partial = kinds.reduce((sum, { partial }) => sum + partial, 0);
    return { ...(missing > 0 && { missing }), ...(partial > 0 && { partial }) };
  });
const coverage = z.object({ kinds }).transform(({ kinds }) => kinds);

const rowCount = z.object({ table: z.string(), rows: z.number() });
/** A table may be there in several formats. */
function sumRows(tables: readonly z.infer<typeof rowCount>[]): number {
  const distinct = new Map(tables.map(({ table, rows }) => [table, rows]));
  return [...distinct.values()].reduce((sum, rows) => sum + rows, 0);
}

const folderCounts = z
  .object({ files: z.array(rowCount), isUnchanged: z.boolean(), coverage: coverage.default({}) })
  .transform(
    ({ files, isUnchanged, coverage }): Counts => ({
      ...(isUnchanged ? { unchanged: files.length } : { files: files.length, rows: sumRows(files) }),
      ...coverage,
    }),
  );
const fileCounts = z
  .object({ tables: z.array(rowCount), coverage: coverage.nullable() })
  .transform(({ tables, coverage }): Counts => ({ files: 1, rows: sumRows(tables), ...coverage }));
const tableCounts = z
  .object({ table: z.string(), rows: z.number(), coverage: coverage.nullable() })
  .transform(({ rows, coverage }): Counts => ({ files: 1, rows, ...coverage }));

const publishedCounts = z
  .object({ published: z.object({}).nullable(), resources: z.number(), mirrorCoverage: coverage })
  .transform(
    ({ published, resources, mirrorCoverage }): Counts => ({
      ...(published === null ? { unchanged: 1 } : { files: 1, resources }),
      ...mirrorCoverage,
    }),
  );
const written = (isNew: boolean): Counts => (isNew ? { files: 1 } : { unchanged: 1 });
const snapshotCounts = z
  .object({ isNew: z.boolean(), mirrorCoverage: coverage })
  .transform(({ isNew, mirrorCoverage }): Counts => ({ ...written(isNew), ...mirrorCoverage }));
const archiveCounts = z
  .object({ isNew: z.boolean(), manifest: z.object({ coverage: kinds, partial: z.number() }) })
  .transform(
    ({ isNew, manifest: { coverage, partial } }): Counts => ({
      ...written(isNew),
      ...coverage,
      ...(partial > 0 && { partial }),
    }),
  );

const counts = z.union([
  z.union([backupCounts, syncCounts]),
  z.union([folderCounts, fileCounts, tableCounts]),
  z.union([publishedCounts, snapshotCounts, archiveCounts]),
]);

/**
 * @param text the output of a command with `--json`
 * @returns the numbers of its report, by name; null without a known report
 */
export function summarizeReport(text: string): Counts | null {
  return counts.safeParse(parseJson(text)).data ?? null;
}
