/**
 * How many resources may be missing at once: more than a fifth of a listing, or of a kind, is more often an error of
 * the service than the truth, and waits for the user's approval. Pure.
 */
export interface NotedAbsence {
  readonly id: number;
  readonly kind: string;
  /** It was fetched before; false for one that is only known from a link. */
  readonly isHeld: boolean;
  /** The listing that it is an item of; null if it is no item. */
  readonly collectionId: number | null;
  /** The nearest noted entity above it; null if there is none. */
  readonly parentId: number | null;
  /** An entity above it is a tombstone already. */
  readonly isBelowTombstone: boolean;
}

/** Counts of resources that are not tombstones; noted ones are included. */
export interface LiveCounts {
  inCollection(collectionId: number): LiveCount;
  ofKind(kind: string): LiveCount;
}

export interface LiveCount {
  readonly all: number;
  /** Those that were fetched. */
  readonly held: number;
}

/** More than a fifth, and more than one, of a listing or of a kind: of all its resources, or of the held ones. */
export interface BulkDeletion {
  readonly kind: string;
  /** The listing that they are missing from; null if there are several, or none. */
  readonly collectionId: number | null;
  readonly absent: number;
  /** The number of all resources, or of the held ones, absent ones included. */
  readonly of: number;
}

export interface AbsenceDecision {
  /** The resources that become tombstones. */
  readonly goneIds: readonly number[];
  /** The number of noted resources that wait for approval. */
  readonly awaitingApproval: number;
  readonly bulkDeletions: readonly BulkDeletion[];
}

/**
 * Decides which noted absences become tombstones. Bulk deletions are detected per listing, and per kind over the
 * whole mirror, since a broken service may also empty many listings of one item each. Held resources are compared with held
 * ones, too: a broken service may list any number of new ones in their place. Resources below an absent entity follow the
 * decision about that entity.
 */
export function decideAbsences(noted: readonly NotedAbsence[], live: LiveCounts): AbsenceDecision {
  const independent = noted.filter(
    ({ parentId, isBelowTombstone }) => parentId === null && !isBelowTombstone,
  );
  const bulkDeletions: BulkDeletion[] = [];
  const suspectIds = new Set<number>();
  const suspend = (
    absences: readonly NotedAbsence[],
    share: Share,
    place: Pick<BulkDeletion, "kind" | "collectionId">,
  ): void => {
    bulkDeletions.push({ ...place, ...share });
    for (const { id } of absences) suspectIds.add(id);
  };
  for (const [collectionId, absences] of Map.groupBy(independent, (absence) => absence.collectionId)) {
    if (collectionId === null) continue;
    const share = findTooLarge(absences, live.inCollection(collectionId));
    if (share !== null) suspend(absences, share, { kind: absences[0]?.kind ?? "", collectionId });
  }
  for (const [kind, absences] of Map.groupBy(independent, (absence) => absence.kind)) {
    const others = absences.filter(({ id }) => !suspectIds.has(id));
    const share = others.length === 0 ? null : findTooLarge(absences, live.ofKind(kind));
    if (share !== null) suspend(others, { ...share, absent: others.length }, { kind, collectionId: null });
  }
  const byId = new Map(noted.map((absence) => [absence.id, absence]));
  const isWaiting = ({ id, parentId }: NotedAbsence): boolean => {
    const parent = parentId === null ? undefined : byId.get(parentId);
    return parent === undefined ? suspectIds.has(id) : isWaiting(parent);
  };
  const goneIds = noted.filter((absence) => !isWaiting(absence)).map(({ id }) => id);
  return { goneIds, awaitingApproval: noted.length - goneIds.length, bulkDeletions: bulkDeletions };
}

type Share = Pick<BulkDeletion, "absent" | "of">;

/** The share of all or of the held resources that is too large; null if neither is. */
function findTooLarge(absences: readonly NotedAbsence[], { all, held }: LiveCount): Share | null {
  const shares = [
    { absent: absences.length, of: all },
    { absent: absences.filter(({ isHeld }) => isHeld).length, of: held },
  ];
  return shares.find(({ absent, of }) => absent > 1 && absent * 5 > of) ?? null;
}
