/** `manifest.json`: what a backup is of. Everything in it is from mirrors, so that the same state gives the same bytes. */
import { z } from "zod";
import { scopeNames } from "../../mirror/account/token-scopes.ts";

export const backupFormat = "armoire-backup";
export const backupFormatVersion = 3;
/** Of earlier ones, what they have not is empty. */
const knownFormatVersions = [1, 2, backupFormatVersion] as const;
/** From this one on, pictures have an ending. */
export const firstWithEndings = 3;

const count = z.number().int().nonnegative();

/** By kind, what was known to be there: what is in it, what was never fetched, and what failed each time. */
const coverage = z.array(z.strictObject({ kind: z.string(), held: count, due: count, failed: count }));

/** The columns of the files, and their rows with tombstones. */
const tables = z.array(
  z.strictObject({
    name: z.string().regex(/^[a-z][a-z_]*$/),
    columns: z.array(z.string()),
    rows: count,
    living: count,
  }),
);

const manifest = z.strictObject({
  format: z.literal(backupFormat),
  formatVersion: z.literal(knownFormatVersions),
  /** The last migration of the mirror: a program that does not know it cannot restore this. */
  schema: z.string(),
  service: z.strictObject({
    baseUrl: z.url({ protocol: /^https?$/ }),
    name: z.string().regex(/^[a-z][a-z0-9_]*$/i),
  }),
  area: z.enum(["catalogue", "account"]),
  /** As it is called on this computer; null for a mirror that was named by its file. */
  account: z.string().nullable(),
  /** Null where the service has not said whose data it is, and for the catalogue, which is nobody's. */
  user: z.strictObject({ userId: z.string().nullable(), username: z.string().nullable() }).nullable(),
  /** Of the mirrors that were restored from one another; null where an earlier version made it. */
  lineage: z.string().nullable().default(null),
  /** The last run, and when it had ended, or began where it had not; ISO 8601, UTC. */
  state: z.strictObject({ run: count, at: z.iso.datetime() }),
  /** Where pictures were asked for, these are a kind too. */
  coverage,
  /** What the service said that the user's token does not grant. */
  notGranted: z.array(z.enum(scopeNames)),
  revisions: count,
  bodies: count,
  /** In `tables/`. */
  tables,
  /** Of an account, what its bras link to, as far as the catalogue's mirror holds it; null where they link to nothing, and for a catalogue. */
  catalogue: z
    .strictObject({
      /** Whether it was ever asked for on this account: else what is not held is no gap. */
      isWanted: z.boolean().default(false),
      coverage,
      /** In `catalogue/`; none where nothing is held. */
      tables,
    })
    .nullable()
    .default(null),
});

export type BackupManifest = z.infer<typeof manifest>;

const anyVersion = z.object({ format: z.literal(backupFormat), formatVersion: z.number().int() });

export const manifestText = (contents: BackupManifest): string => `${JSON.stringify(contents, null, 2)}\n`;

export type ReadManifest =
  | { readonly manifest: BackupManifest }
  /** Written by a later version of Armoire. */
  | { readonly newer: number }
  | { readonly problem: string };

export function readManifest(text: string): ReadManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "is not JSON" };
  }
  const header = anyVersion.safeParse(value);
  if (!header.success) return { problem: "is not the manifest of a backup" };
  if (header.data.formatVersion > backupFormatVersion) return { newer: header.data.formatVersion };
  const read = manifest.safeParse(value);
  if (read.success) return { manifest: read.data };
  return { problem: `is damaged at ${read.error.issues[0]?.path.join(".") || "the top"}` };
}
