/**
 * The links of a resource. Most targets become resources at once; the target of an optional link is stored as a URL
 * only, until a sync follows links of that name: nine tenths of a catalogue's optional links are never followed.
 */
import { isUnknownKind } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { toStoredId } from "../rows/cells.ts";
import { linkTable, prepareVersionedRows, type RowOwner } from "../rows/versioned-rows.ts";
import type { DerivedLink } from "./derive.ts";
import type { Resources } from "./resources.ts";

export interface Links {
  /** Replaces the links of a resource. @returns the ids of their targets by link name */
  write(
    source: RowOwner & { readonly url: string },
    links: readonly DerivedLink[],
    runId: number,
    ensure: EnsureTarget,
  ): ReadonlyMap<string, number>;
  /** Turns the targets of links with these names into resources, those stored earlier and all future ones. */
  follow(names: readonly string[], runId: number): void;
}

export type EnsureTarget = (url: string, kind: string, ownerId: number | null, pointer: string) => number;

/** A row of `linkTable`. */
type LinkRow = [fromId: bigint, name: string, kind: string, toId: bigint | null, notedUrl: string | null];

export function prepareLinks(db: Connection, resources: Resources): Links {
  const rows = prepareVersionedRows(db, linkTable);
  const selectSources = prepare(db, (p: { name: string }) =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as r", "r.id", "l.from_id")
      .select(["r.id", "r.url"])
      .where("l.name", "=", p.name)
      .where("l.unfollowed_url", "is not", null),
  );
  const followedSince = readFollowedSince(db);
  // A rebuild must derive old bodies as they were derived in their time.
  const isFollowed = (name: string, runId: number) =>
    (followedSince.get(name) ?? Number.POSITIVE_INFINITY) <= runId;

  return {
    write(source, links, runId, ensure) {
      const targetIds = new Map<string, number>();
      const newRows = links.map(({ name, url, kind, owned, isOptional }): LinkRow => {
        const isUrlOnly = isOptional && !isFollowed(name, runId);
        const targetId =
          url === null || isUrlOnly ? null : ensure(url, kind, owned ? source.id : null, `/links/${name}`);
        if (targetId !== null) targetIds.set(name, targetId);
        const storedUrl = isUrlOnly && url !== null ? relativize(url, source.url) : null;
        return [BigInt(source.id), name, kind, toStoredId(targetId), storedUrl];
      });
      rows.replace(source, newRows, runId);
      return targetIds;
    },
    follow(names, runId) {
      const added = names.filter((name) => !followedSince.has(name));
      if (added.length === 0) return;
      db.transaction(() => {
        for (const name of added) followedSince.set(name, runId);
        const sources = added.flatMap((name) => selectSources.all({ name }));
        for (const [sourceId, sourceUrl] of new Map(sources.map(({ id, url }) => [id, url]))) {
          const links = (rows.read(sourceId) as LinkRow[]).map((row): LinkRow => {
            const [id, name, kind, , storedUrl] = row;
            if (storedUrl === null || !added.includes(name)) return row;
            const ownerId = isUnknownKind(kind) ? null : sourceId;
            const target = resources.ensure(absolutize(storedUrl, sourceUrl), kind, ownerId, runId);
            return [id, name, kind, toStoredId(target.id), null];
          });
          rows.replace({ id: sourceId, isKnown: true }, links, runId);
        }
        writeMeta(db, "followed_links", JSON.stringify(Object.fromEntries(followedSince)));
      })();
    },
  };
}

/** Link names, and for each the run since which such links are followed. */
export function readFollowedSince(db: Connection): Map<string, number> {
  const followed: Readonly<Record<string, number>> = JSON.parse(readMeta(db, "followed_links") ?? "{}");
  return new Map(Object.entries(followed));
}

/** Most targets are below the source, whose URL is then stored as `+`, with which no URL begins. */
function relativize(url: string, sourceUrl: string): string {
  return url.startsWith(sourceUrl) ? `+${url.slice(sourceUrl.length)}` : url;
}

function absolutize(storedUrl: string, sourceUrl: string): string {
  return storedUrl.startsWith("+") ? sourceUrl + storedUrl.slice(1) : storedUrl;
}

/**
 * `absolutize` as SQL.
 * @param link alias of a row of `_link`
 * @param source alias of that link's row of `_resource`
 */
export const unfollowedUrlOf = (link: string, source: string): string =>
  `iif(${link}.unfollowed_url like '+%', ${source}.url || substr(${link}.unfollowed_url, 2), ${link}.unfollowed_url)`;
