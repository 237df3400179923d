/**
 * The links of a resource. What the walk meets anyway becomes a resource at once; an optional link is only noted, with its
 * URL, until a sync follows links of its name: nine tenths of a catalogue's optional links are never followed.
 */
import { isUnknownKind } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { toStoredId } from "../rows/cells.ts";
import { linkTable, prepareVersionedRows, type RowOwner } from "../rows/versioned-rows.ts";
import type { DerivedLink } from "./derive.ts";
import type { Resources } from "./resources.ts";

export interface Links {
  /** Replaces the links of a resource; gives the ids that they lead to, by name. */
  write(
    from: RowOwner & { readonly url: string },
    links: readonly DerivedLink[],
    runId: number,
    ensure: EnsureTarget,
  ): ReadonlyMap<string, number>;
  /** From now on, and for good, links of these names lead to resources; those noted earlier do so at once. */
  follow(names: readonly string[], runId: number): void;
}

export type EnsureTarget = (url: string, kind: string, ownerId: number | null, pointer: string) => number;

export function prepareLinks(db: Connection, resources: Resources): Links {
  const rows = prepareVersionedRows(db, linkTable);
  const selectNoting = db
    .prepare<[string], [id: number, url: string]>(
      `select r.id, r.url from _link l join _resource r on r.id = l.from_id
       where l.name = ? and l.noted_url is not null`,
    )
    .raw();
  const followedSince = readFollowedSince(db);
  // What is read again is read as it was at the time.
  const isFollowed = (name: string, runId: number) =>
    (followedSince.get(name) ?? Number.POSITIVE_INFINITY) <= runId;

  return {
    write(from, links, runId, ensure) {
      const ids = new Map<string, number>();
      const written = links.map(({ name, url, kind, owned, isOptional }) => {
        const isNoted = isOptional && !isFollowed(name, runId);
        const id =
          url === null || isNoted ? null : ensure(url, kind, owned ? from.id : null, `/links/${name}`);
        if (id !== null) ids.set(name, id);
        return [
          BigInt(from.id),
          name,
          kind,
          toStoredId(id),
          isNoted && url !== null ? relativize(url, from.url) : null,
        ];
      });
      rows.replace(from, written, runId);
      return ids;
    },
    follow(names, runId) {
      const added = names.filter((name) => !followedSince.has(name));
      if (added.length === 0) return;
      db.transaction(() => {
        for (const name of added) followedSince.set(name, runId);
        for (const [fromId, fromUrl] of new Map(added.flatMap((name) => selectNoting.all(name)))) {
          const links = (rows.read(fromId) as LinkRow[]).map((row): LinkRow => {
            const [id, name, kind, , noted] = row;
            if (noted === null || !added.includes(name)) return row;
            const ownerId = isUnknownKind(kind) ? null : fromId;
            const target = resources.ensure(absolutize(noted, fromUrl), kind, ownerId, runId);
            return [id, name, kind, toStoredId(target.id), null];
          });
          rows.replace({ id: fromId, isKnown: true }, links, runId);
        }
        writeMeta(db, "followed_links", JSON.stringify(Object.fromEntries(followedSince)));
      })();
    },
  };
}

/** Link name to the run since which links of that name are followed. */
export function readFollowedSince(db: Connection): Map<string, number> {
  const followed: unknown = JSON.parse(readMeta(db, "followed_links") ?? "{}");
  // Earlier versions kept the names alone.
  if (Array.isArray(followed)) return new Map(followed.map((name) => [name, 0]));
  return new Map(Object.entries(followed as Readonly<Record<string, number>>));
}

type LinkRow = [fromId: bigint, name: string, kind: string, toId: bigint | null, notedUrl: string | null];

/**
 * Where a link leads that is only noted. Most lead to what is below the resource itself, whose URL is then not written once
 * more: `+`, with which no URL begins, stands for it.
 */

export function relativize(url: string, source: string): string {
  return url.startsWith(source) ? `+${url.slice(source.length)}` : url;
}

export function absolutize(noted: string, source: string): string {
  return noted.startsWith("+") ? source + noted.slice(1) : noted;
}

/**
 * `fromNoted` in SQL.
 * @param link alias of a row of `_link`
 * @param source alias of the row of `_resource` that it is a link of
 */
export const notedUrlOf = (link: string, source: string): string =>
  `iif(${link}.noted_url like '+%', ${source}.url || substr(${link}.noted_url, 2), ${link}.noted_url)`;
