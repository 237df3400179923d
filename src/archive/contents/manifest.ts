/** `manifest.json`: what a backup is of. Everything in it is from mirrors, so the same state gives the same bytes. */
import { z } from "zod";
import { listOf } from "../../../schema/input/list-shape.ts";
import { areas } from "../../../schema/kind.ts";
import { migrations } from "../../../schema/migrations.ts";
import { scopeNames } from "../../mirror/account/token-scopes.ts";
import { isServiceName } from "../../mirror/file/meta.ts";
import { BackupError } from "../errors.ts";

export const backupFormat = "armoire-backup";
export const backupFormatVersion = 4;
/** Format 3 had an entry for each body, and stored all of them. */
const oldestFormatVersion = 3;

export const count = z.number().int().nonnegative();

export const serviceShape = z.strictObject({
  /** As in the settings, without a user name, password, query or fragment. */
  baseUrl: z.url({ protocol: /^https?$/ }).regex(/^https?:\/\/[^/?#@\\]+(?:\/[^?#]*)?$/),
  name: z.string().refine(isServiceName),
});

/** By kind, the known resources: held in the backup, due (never fetched), and failed at each attempt. */
const coverage = listOf(z.strictObject({ kind: z.string(), held: count, due: count, failed: count }));

/** `rows` counts tombstones, `current` does not. */
const tables = listOf(
  z.strictObject({
    name: z.string().regex(/^[a-z][a-z_]*$/),
    columns: listOf(z.string()),
    rows: count,
    current: count,
  }),
);

const manifest = z.strictObject({
  format: z.literal(backupFormat),
  formatVersion: z.int().min(oldestFormatVersion).max(backupFormatVersion),
  /** What the archive is: a backup, or a snapshot to share. Format 3 had backups alone. */
  contents: z.literal("backup").default("backup"),
  /** The last migration of the mirror. Only a program that knows it can restore the bookkeeping. */
  schema: z.string(),
  service: serviceShape,
  area: z.enum(areas),
  /** Its name on this computer; null for a mirror that was given as a file. */
  account: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/)
    .nullable(),
  /** Null for a catalogue, and until the service has identified the user. */
  user: z.strictObject({ userId: z.string().nullable(), username: z.string().nullable() }).nullable(),
  /** The mirror's id, which restored mirrors continue; null for a mirror that was never opened for writing since ids exist. */
  mirrorId: z.string().nullable(),
  /** The last run, and when it ended (or began, if it has not ended); ISO 8601, UTC. */
  state: z.strictObject({ run: count, at: z.iso.datetime() }),
  /** Includes `picture` if the mirror knows pictures. */
  coverage,
  /** Lists whose pages are inconsistent. */
  partial: count,
  /** Links that the specification requires, missing or unusable. */
  missingLinks: count.default(0),
  /** Absent resources that are kept until the user approves. */
  awaitingApproval: count,
  /** Scopes that the user's token lacks, as the service reported. */
  notGranted: listOf(z.enum(scopeNames)),
  revisions: count,
  bodies: count,
  /** Those in `tables/`. */
  tables,
  /** Of an account: the catalogue resources that its bras link to. Null for a catalogue, or without such links. */
  catalogue: z
    .strictObject({
      /** Whether the user requested them (--with-catalogue). If not, missing ones are no gap. */
      isRequested: z.boolean(),
      coverage,
      /** Those in `catalogue/`; none if nothing is held. */
      tables,
    })
    .nullable(),
});

export type BackupManifest = z.infer<typeof manifest>;

export const manifestText = (contents: object): string => `${JSON.stringify(contents, null, 2)}\n`;

/** What every version of the format has. */
const anyVersion = z.object({
  format: z.literal(backupFormat),
  formatVersion: z.number().int(),
  contents: z.string().default("backup"),
  schema: z.string().optional(),
});

export type Parsed<Manifest> = { readonly manifest: Manifest } | { readonly problem: string };

/**
 * Parses a manifest from an untrusted source.
 * @throws BackupError `other-version` for another version of the format, or a mirror with unknown tables
 */
export const parseManifest = (text: string): Parsed<BackupManifest> =>
  parseManifestOf("backup", manifest, text);

/** As `parseManifest`, for an archive of these contents. @throws BackupError `other-contents` for another one */
export function parseManifestOf<Shape extends z.ZodType>(
  contents: "backup" | "snapshot",
  shape: Shape,
  text: string,
): Parsed<z.infer<Shape>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "is not JSON" };
  }
  const header = anyVersion.safeParse(value);
  if (!header.success) return { problem: "is not the manifest of a backup or snapshot" };
  requireThisVersion(contents, header.data);
  if (header.data.contents !== contents) throw otherContents(contents);
  const parsed = shape.safeParse(value);
  if (parsed.success) return { manifest: parsed.data };
  return { problem: `is damaged at ${parsed.error.issues[0]?.path.join(".") || "the top"}` };
}

function requireThisVersion(contents: string, { formatVersion, schema }: z.infer<typeof anyVersion>): void {
  if (formatVersion < oldestFormatVersion || formatVersion > backupFormatVersion)
    throw otherVersion(
      contents,
      `has format ${formatVersion}; this version of Armoire reads formats ${oldestFormatVersion} to ${backupFormatVersion}`,
    );
  if (schema === undefined || Object.hasOwn(migrations, schema)) return;
  const known = Object.keys(migrations).at(-1);
  const name = JSON.stringify(schema.slice(0, 80));
  throw otherVersion(
    contents,
    `is of a mirror with the tables of ${name}; this version of Armoire knows ${known}`,
  );
}

/** One line, since users try a file with either command. */
function otherContents(expected: "backup" | "snapshot"): BackupError {
  return expected === "backup"
    ? new BackupError(
        "other-contents",
        "The file is a snapshot of a catalogue, not a backup",
        "Use `armoire snapshot verify FILE`, or load it with `armoire snapshot load FILE`.",
      )
    : new BackupError(
        "other-contents",
        "The file is a backup, not a snapshot; nothing was read from it",
        "Restore it with `armoire backup restore FILE`. To share a catalogue, use `armoire snapshot create`.",
      );
}

function otherVersion(contents: string, reason: string): BackupError {
  return new BackupError(
    "other-version",
    `The ${contents} ${reason}`,
    "Use the version of Armoire that made it. The file was not changed.",
  );
}
