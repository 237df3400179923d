import { z } from "zod";
import { parseJson } from "../schedule.ts";

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
/** A backup syncs first, and reports that too. */
const backupReport = z.object({ sync: syncReport }).transform(({ sync }) => sync);
const exportReport = z.object({
  files: z.array(z.object({ rows: z.number() })),
  isUnchanged: z.boolean(),
  coverage: z.object({ kinds: z.array(z.object({ due: z.number(), failed: z.number() })) }).optional(),
});

/**
 * @param text the output of a command with `--json`
 * @returns the numbers of its report, by name; null without a known report
 */
export function summarizeReport(text: string): Readonly<Record<string, number>> | null {
  const value = parseJson(text);
  const synced = z.union([backupReport, syncReport]).safeParse(value);
  if (synced.success) {
    const { requests, resources } = synced.data;
    return { ...resources, counted: requests.counted };
  }
  const exported = exportReport.safeParse(value);
  if (!exported.success) return null;
  const { files, isUnchanged, coverage } = exported.data;
  const missing = coverage?.kinds.reduce((sum, { due, failed }) => sum + due + failed, 0) ?? 0;
  const written = isUnchanged
    ? { unchanged: files.length }
    : { files: files.length, rows: files.reduce((sum, { rows }) => sum + rows, 0) };
  return { ...written, ...(missing > 0 && { missing }) };
}
