/**
 * Which of the noted absences become tombstones, and which wait for approval. In: what is noted, and how much there is. Out:
 * both, and where too much would go at once. Pure.
 */

export interface NotedAbsence {
  readonly id: number;
  readonly kind: string;
  /** The list that it is an item of; null for what is no item. */
  readonly collectionId: number | null;
  /** The nearest entity that it belongs to and that is noted as well; null where there is none. */
  readonly parentId: number | null;
  /** An entity that it belongs to is a tombstone already. */
  readonly isBelowTombstone: boolean;
}

export interface LiveCounts {
  /** How many items of the list are not tombstones, those that are noted included. */
  inCollection(collectionId: number): number;
  ofKind(kind: string): number;
}

/** More than a fifth, and more than one. */
export interface BulkDeletion {
  readonly kind: string;
  /** The list that they are missing from; null when they are of several lists, or of none. */
  readonly collectionId: number | null;
  readonly absent: number;
  /** How many there are, the absent ones included. */
  readonly of: number;
}

export interface AbsenceDecision {
  readonly goneIds: readonly number[];
  readonly waiting: number;
  readonly masses: readonly BulkDeletion[];
}

/**
 * A mass is looked for in each list, and in each kind over the whole mirror: a service that knows nothing any more must not
 * empty lists of one item either. What belongs to an absent entity shares its fate and makes no mass of its own.
 */
export function decideAbsences(noted: readonly NotedAbsence[], live: LiveCounts): AbsenceDecision {
  const own = noted.filter(({ parentId, isBelowTombstone }) => parentId === null && !isBelowTombstone);
  const masses: BulkDeletion[] = [];
  const waiting = new Set<number>();
  const hold = (absences: readonly NotedAbsence[], mass: BulkDeletion): void => {
    masses.push(mass);
    for (const { id } of absences) waiting.add(id);
  };
  for (const [collectionId, absences] of Map.groupBy(own, (absence) => absence.collectionId)) {
    if (collectionId === null) continue;
    const of = live.inCollection(collectionId);
    const kind = absences[0]?.kind ?? "";
    if (isMass(absences.length, of)) hold(absences, { kind, collectionId, absent: absences.length, of });
  }
  for (const [kind, absences] of Map.groupBy(own, (absence) => absence.kind)) {
    const rest = absences.filter(({ id }) => !waiting.has(id));
    const of = live.ofKind(kind);
    if (rest.length > 0 && isMass(absences.length, of))
      hold(rest, { kind, collectionId: null, absent: rest.length, of });
  }
  const byId = new Map(noted.map((absence) => [absence.id, absence]));
  const isWaiting = ({ id, parentId }: NotedAbsence): boolean => {
    const parent = parentId === null ? undefined : byId.get(parentId);
    return parent === undefined ? waiting.has(id) : isWaiting(parent);
  };
  const goneIds = noted.filter((absence) => !isWaiting(absence)).map(({ id }) => id);
  return { goneIds, waiting: noted.length - goneIds.length, masses };
}

function isMass(absent: number, of: number): boolean {
  return absent > 1 && absent * 5 > of;
}
