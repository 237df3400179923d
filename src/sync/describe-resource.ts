/** Names resources for people who read the queue of workers. */
import type { Connection } from "../mirror/file/connection.ts";

export interface ResourceDescription {
  /** Of the current run. */
  readonly run: number;
  /** `other` for an address that is no resource, such as that of a redirect. */
  readonly kind: string;
  /** Names of what it belongs to and of itself, such as `Comexim › Lupine › 70G`; null if unknown. */
  readonly label: string | null;
}

const maxNameLength = 80;
const maxDepth = 8;
const maxCachedPaths = 10_000;

interface Described {
  readonly id: number;
  readonly kind: string;
  readonly ownerId: number | null;
  readonly name: string | null;
}

/** @param isPrivate leaves out names, which are of a person's data */
export function createDescriber(
  db: Connection,
  { isPrivate }: { readonly isPrivate: boolean },
): (url: string) => ResourceDescription {
  const selectRun = db.prepare<[], number>("select max(id) from _run").pluck();
  // Lists know the names of their items before those are fetched.
  const columns =
    "id, kind, owner_id as ownerId, (select m.name from _member m where m.item_id = r.id limit 1) as name";
  const selectByUrl = db.prepare<[string], Described>(`select ${columns} from _resource r where url = ?`);
  const selectById = db.prepare<[number], Described>(`select ${columns} from _resource r where id = ?`);
  // Of lists and other owners, which many resources share.
  const paths = new Map<number, readonly string[]>();

  const namesOf = ({ ownerId, name }: Described, depth = 0): readonly string[] => {
    const owners = ownerId === null || depth === maxDepth ? [] : ownerNames(ownerId, depth + 1);
    const shown = name?.trim().replace(/\s+/g, " ").slice(0, maxNameLength) ?? "";
    return shown === "" ? owners : [...owners, shown];
  };
  const ownerNames = (id: number, depth: number): readonly string[] => {
    const known = paths.get(id);
    if (known !== undefined) return known;
    const owner = selectById.get(id);
    const names = owner === undefined ? [] : namesOf(owner, depth);
    if (paths.size >= maxCachedPaths) paths.clear();
    // Names that are missing may be found later.
    if (names.length > 0) paths.set(id, names);
    return names;
  };
  return (url) => {
    const found = selectByUrl.get(url);
    const names = found === undefined || isPrivate ? [] : namesOf(found);
    return {
      run: selectRun.get() ?? 0,
      kind: found?.kind ?? "other",
      label: names.length === 0 ? null : names.join(" › "),
    };
  };
}
