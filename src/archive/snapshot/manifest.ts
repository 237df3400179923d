/** `manifest.json` of a snapshot. It says nothing of whose mirror it was, and no time finer than a day. */
import { z } from "zod";
import { listOf } from "../../../schema/input/list-shape.ts";
import { coverageOf } from "../../mirror/runs/coverage.ts";
import { describeMissing } from "../../mirror/runs/describe-coverage.ts";
import {
  backupFormat,
  backupFormatVersion,
  count,
  type Parsed,
  parseManifestOf,
  serviceShape,
} from "../contents/manifest.ts";

const day = z.iso.date();

/** By kind: the resources in it, among them those that are gone, and those that are known and not in it. */
export const coverageShape = listOf(
  z.strictObject({
    kind: z.string(),
    held: count,
    gone: count,
    due: count,
    /** The days on which the service last sent or confirmed the resources; null without any. */
    oldest: day.nullable(),
    newest: day.nullable(),
  }),
);

const rootHash = z.string().regex(/^[0-9a-f]{64}$/);

const manifest = z.strictObject({
  format: z.literal(backupFormat),
  formatVersion: z.literal(backupFormatVersion),
  contents: z.literal("snapshot"),
  service: serviceShape,
  /** The day of the last run that is in it, in UTC. */
  takenOn: day,
  /** The kind of credential with which the resources were fetched. */
  seenBy: z.enum(["none", "app", "token"]),
  /** An SPDX identifier, or the URL of a licence. */
  license: z.string(),
  /** How to cite it; null for nothing stated. */
  citation: z.string().nullable(),
  coverage: coverageShape,
  /** The root hash of the snapshot that an increment adds to; absent in a whole snapshot. */
  continues: rootHash.optional(),
  /**
   * The root hash of the snapshot that was published before a whole one; absent in the first one, and outside of a folder. With
   * it, a state that comes back on the same day is another snapshot than before.
   */
  replaces: rootHash.optional(),
});

export type SnapshotManifest = z.infer<typeof manifest>;
export type SnapshotCoverage = SnapshotManifest["coverage"];

/** The known resources that a snapshot lacks, in one line; null if there are none. */
export function describeMissingFrom(coverage: SnapshotCoverage): string | null {
  if (coverage.every(({ due }) => due === 0)) return null;
  const kinds = coverage.map(({ kind, held, gone, due }) => ({
    ...{ kind, known: held + gone + due, held, gone, due },
    ...{ failed: 0, partial: 0, missingLinks: 0, awaitingApproval: 0 },
    ...{ oldestCheckAt: null, newestCheckAt: null },
  }));
  return describeMissing(coverageOf(kinds));
}

/** Parses a manifest from an untrusted source. @throws BackupError `other-version`, `other-contents` */
export const parseSnapshotManifest = (text: string): Parsed<SnapshotManifest> =>
  parseManifestOf("snapshot", manifest, text);
