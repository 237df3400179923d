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

/** @param isPrivate leaves out names, which are of a person's data */
export function createDescriber(
  db: Connection,
  { isPrivate }: { readonly isPrivate: boolean },
): (url: string) => ResourceDescription {
  const selectRun = db.prepare<[], number>("select max(id) from _run").pluck();
  const selectKind = db.prepare<[string], string>("select kind from _resource where url = ?").pluck();
  // Raw: a recursion from a resource to its owners. Lists know the names of their items before those are fetched.
  const selectNames = db
    .prepare<[string], unknown>(
      `with recursive owners (id, owner_id, distance) as (
        select id, owner_id, 0 from _resource where url = ?
        union all
        select r.id, r.owner_id, distance + 1 from owners o join _resource r on r.id = o.owner_id where distance < 8
      )
      select (select m.name from _member m where m.item_id = o.id limit 1) from owners o order by distance desc`,
    )
    .pluck();
  const labelOf = (url: string): string | null => {
    const names = selectNames.all(url).filter((name) => typeof name === "string" && name.trim() !== "");
    return names.length === 0 ? null : names.map((name) => String(name).slice(0, maxNameLength)).join(" › ");
  };
  return (url) => ({
    run: selectRun.get() ?? 0,
    kind: selectKind.get(url) ?? "other",
    label: isPrivate ? null : labelOf(url),
  });
}
