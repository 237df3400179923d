/** Snapshots in memory, made from mirrors. */

import type { StoredBody } from "../../../../src/mirror/bodies/compression.ts";
import { prepareReadBody } from "../../../../src/mirror/bodies/read-body.ts";
import type { MirrorReader } from "../../../../src/mirror/reader.ts";
import type {
  SnapshotDescription,
  SnapshotResource,
  SnapshotSource,
} from "../../../../src/mirror/snapshots/snapshot-resource.ts";
import { sha256Of } from "../../support/world.ts";

export type HeldResource = Omit<SnapshotResource, "readBody"> & { readonly body: Buffer };

const order = ["root", "brands", "brand", "models", "model", "sizes", "size"];
const rankOf = (kind: string) => (order.includes(kind) ? order.indexOf(kind) : order.length);

/** The newest body of each resource, in the order of a snapshot. */
export function resourcesOf({ db }: Pick<MirrorReader, "db">): HeldResource[] {
  const readBody = prepareReadBody(db);
  const rows = db
    .prepare<[], StoredBody & Omit<HeldResource, "body" | "headers"> & { contentType: string | null }>(
      `select r.url, r.kind, v.base_url as finalUrl, v.status, r.etag, h.content_type as contentType,
         strftime('%Y-%m-%dT00:00:00.000Z', r.checked_at / 1000, 'unixepoch') as fetchedAt,
         iif(r.state = 'gone', strftime('%Y-%m-%dT00:00:00.000Z', g.started_at), null) as goneAt,
         c.codec, c.size, c.body, c.dictionary_id as dictionaryId
       from _resource r join _revision v on v.resource_id = r.id join _content c on c.id = v.content_id
         left join _headers h on h.id = v.headers_id left join _run g on g.id = r.gone_run
       where r.state in ('held', 'gone') and v.seq = (select max(seq) from _revision where resource_id = r.id)`,
    )
    .all();
  return rows
    .map(({ codec, size, body, dictionaryId, contentType, finalUrl, ...row }) => ({
      ...row,
      ...(finalUrl != null && { finalUrl }),
      headers: { sentAt: null, modifiedAt: null, contentType, link: null },
      body: readBody({ codec, size, body, dictionaryId }),
    }))
    .sort((a, b) => rankOf(a.kind) - rankOf(b.kind) || (a.url < b.url ? -1 : 1));
}

export function snapshotOf(
  mirror: Pick<MirrorReader, "db" | "identity">,
  resources: readonly HeldResource[] = resourcesOf(mirror),
  more: Partial<SnapshotDescription> = {},
): SnapshotSource {
  const { baseUrl, serviceName } = mirror.identity;
  const takenOn = resources
    .map(({ fetchedAt, goneAt }) => goneAt ?? fetchedAt)
    .sort()
    .at(-1);
  return {
    description: {
      rootHash: sha256Of(JSON.stringify(resources.map(({ url, body }) => [url, sha256Of(body)]))),
      ...{ baseUrl, serviceName, takenOn: takenOn ?? "2026-01-01T00:00:00.000Z" },
      ...{ seenBy: "none", source: "catalogue.zip", signedBy: null, sequence: null },
      ...more,
    },
    async *resources() {
      for (const { body, ...resource } of resources) yield { ...resource, readBody: async () => body };
    },
  };
}
