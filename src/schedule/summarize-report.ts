/** The numbers of what a command printed with `--json`, by the names that they are kept under. */
import { z } from "zod";

const sync = z.object({
  requests: z.object({ counted: z.number() }),
  resources: z.object({
    new: z.number(),
    changed: z.number(),
    gone: z.number(),
    pending: z.number(),
    failed: z.number(),
  }),
});

const exported = z.object({ files: z.array(z.object({ rows: z.number() })) });

export type Counts = Readonly<Record<string, number>>;

/** @returns null where there is no report, or none that is known */
export function summarizeReport(text: string): Counts | null {
  const value = parse(text);
  const ofBackup = z.object({ sync }).safeParse(value);
  const ofSync = sync.safeParse(ofBackup.success ? ofBackup.data.sync : value);
  if (ofSync.success) {
    const { requests, resources } = ofSync.data;
    return { ...resources, counted: requests.counted };
  }
  const ofExport = exported.safeParse(value);
  if (!ofExport.success) return null;
  const { files } = ofExport.data;
  return { files: files.length, rows: files.reduce((sum, { rows }) => sum + rows, 0) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
