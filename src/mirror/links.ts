/**
 * The links of a resource. What the walk meets anyway becomes a resource at once; an optional link is only noted, with its
 * URL, until a sync follows links of its name: nine tenths of a catalogue's optional links are never followed.
 */
import { isUnknownKind } from "../../schema/kind.ts";
import type { Connection } from "./connection.ts";
import type { DerivedLink } from "./derive.ts";
import { readMeta, writeMeta } from "./meta.ts";
import type { Resources } from "./resources.ts";

export interface Links {
  /** Replaces the links of a resource; gives the ids that they lead to, by name. */
  write(
    fromId: number,
    links: readonly DerivedLink[],
    options: { readonly isKnown: boolean; readonly ensure: EnsureTarget },
  ): ReadonlyMap<string, number>;
  /** From now on, and for good, links of these names lead to resources; those noted earlier do so at once. */
  follow(names: readonly string[], runId: number): void;
}

export type EnsureTarget = (url: string, kind: string, ownerId: number | null, pointer: string) => number;

export function prepareLinks(db: Connection, resources: Resources): Links {
  const remove = db.prepare("delete from _link where from_id = ?");
  const insert = db.prepare(
    "insert into _link (from_id, name, kind, to_id, noted_url) values (?, ?, ?, ?, ?)",
  );
  const selectNoted = db.prepare<[string], { fromId: number; kind: string; url: string }>(
    "select from_id as fromId, kind, noted_url as url from _link where name = ? and noted_url is not null",
  );
  const setTarget = db.prepare("update _link set to_id = ?, noted_url = null where from_id = ? and name = ?");
  const followed = new Set<string>(JSON.parse(readMeta(db, "followed_links") ?? "[]"));

  return {
    write(fromId, links, { isKnown, ensure }) {
      if (isKnown) remove.run(fromId);
      const ids = new Map<string, number>();
      for (const { name, url, kind, owned, isOptional } of links) {
        const isNoted = isOptional && !followed.has(name);
        const id =
          url === null || isNoted ? null : ensure(url, kind, owned ? fromId : null, `/links/${name}`);
        insert.run(fromId, name, kind, id, isNoted ? url : null);
        if (id !== null) ids.set(name, id);
      }
      return ids;
    },
    follow(names, runId) {
      const added = names.filter((name) => !followed.has(name));
      if (added.length === 0) return;
      db.transaction(() => {
        for (const name of added) {
          followed.add(name);
          for (const { fromId, kind, url } of selectNoted.all(name)) {
            const ownerId = isUnknownKind(kind) ? null : fromId;
            setTarget.run(resources.ensure(url, kind, ownerId, runId).id, fromId, name);
          }
        }
        writeMeta(db, "followed_links", JSON.stringify([...followed].sort()));
      })();
    },
  };
}
