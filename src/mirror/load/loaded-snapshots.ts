/** The snapshots that a mirror has loaded, and the lines of published folders that they belong to. */
import { z } from "zod";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { parseStored } from "../rows/stored-values.ts";
import type { SnapshotDescription } from "../snapshots/snapshot-resource.ts";

export interface LoadedSnapshot {
  readonly rootHash: string;
  /** The file's name or its URL. */
  readonly source: string;
  readonly signedBy: string | null;
  readonly sequence: number | null;
  /** The line of the published folder that it was followed in; null for a file that was given by name. */
  readonly line: string | null;
  /** A digest of where that folder was; null also in mirrors of earlier versions. */
  readonly folder: string | null;
  /** False if its load was interrupted, and not continued since. */
  readonly isComplete: boolean;
  /** The URL at which the service has contradicted it. */
  readonly condemnedBy: string | null;
}

/** What the run of a load says of its snapshots. */
const loadScope = z.looseObject({
  snapshots: z.array(z.string()),
  /** By root hash. */
  lines: z.record(z.string(), z.string()).optional(),
  /** By root hash. */
  folders: z.record(z.string(), z.string()).optional(),
});

type LoadScope = z.infer<typeof loadScope>;

const isLoadScope = (value: unknown) => loadScope.safeParse(value).success;

export function scopeOfLoad(descriptions: readonly SnapshotDescription[]): LoadScope {
  const lines = descriptions.flatMap(({ rootHash, line }) => (line === undefined ? [] : [[rootHash, line]]));
  const folders = descriptions.flatMap(({ rootHash, folder }) =>
    folder === undefined ? [] : [[rootHash, folder]],
  );
  return {
    snapshots: descriptions.map(({ rootHash }) => rootHash),
    ...(lines.length > 0 && { lines: Object.fromEntries(lines) }),
    ...(folders.length > 0 && { folders: Object.fromEntries(folders) }),
  };
}

/** @throws DamagedValueError */
export function readLoadedSnapshots(db: Connection): LoadedSnapshot[] {
  const runs = prepare(db, () =>
    q
      .selectFrom("_run")
      .select(["id", "scope_json as scope", "ended_at as endedAt", "stopped"])
      .where("mode", "=", "load"),
  ).all();
  const complete = new Set<string>();
  const lines = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const { id, scope, endedAt, stopped } of runs) {
    const { snapshots, ...followed }: LoadScope = parseStored(scope, isLoadScope, `run ${id}`);
    for (const [rootHash, line] of Object.entries(followed.lines ?? {})) lines.set(rootHash, line);
    for (const [rootHash, folder] of Object.entries(followed.folders ?? {})) folders.set(rootHash, folder);
    // A load that waits for approval of what is gone has loaded everything.
    const isComplete = endedAt !== null && (stopped === null || stopped === "approval");
    if (isComplete) for (const rootHash of snapshots) complete.add(rootHash);
  }
  return prepare(db, () =>
    q
      .selectFrom("_snapshot")
      .select(["root_hash as rootHash", "source", "signed_by as signedBy", "sequence"])
      .select("condemned_by as condemnedBy"),
  )
    .all()
    .map((row) => ({
      ...row,
      line: lines.get(row.rootHash) ?? null,
      folder: folders.get(row.rootHash) ?? null,
      isComplete: complete.has(row.rootHash),
    }));
}
