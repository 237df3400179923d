/** Stores revisions: the distinct contents that a resource had, one after the other. */
import { hash } from "node:crypto";
import { sql } from "kysely";
import type { KeptHeaders } from "../../service/fetch-result.ts";
import { markLastSeenSql } from "../absence/absences.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { BodyStore } from "./body-store.ts";

export interface LastRevision {
  readonly seq: number;
  /** Null once the revision is closed: the resource is gone. */
  readonly sha256: Buffer | null;
}

export interface NewRevision {
  readonly resource: { readonly id: number; readonly kind: string };
  readonly last: LastRevision | undefined;
  readonly body: Uint8Array;
  readonly sha256: Buffer;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly fetchedAt: number;
  /** What relative links resolve against, if redirects led away from the resource's URL. */
  readonly baseUrl: string | null;
  readonly headers: KeptHeaders;
}

export interface Revisions {
  /** To be called at the beginning of each transaction that stores revisions. */
  begin(): void;
  last(resourceId: number): LastRevision | undefined;
  /** Stores a body as the current revision, and closes the one before it. */
  store(revision: NewRevision, runId: number): void;
  /** Closes the current revision, if there is one. */
  close(resourceId: number, runId: number): void;
  /** Records when the current revision was last seen. */
  markLastSeen(resourceId: number): void;
}

const millisOf = (time: string | null): number | null => (time === null ? null : Date.parse(time));

export const sha256Of = (body: Uint8Array): Buffer => hash("sha256", body, "buffer");

export function prepareRevisions(db: Connection, bodies: BodyStore): Revisions {
  const selectLast = prepare(db, (p: { resourceId: number }) =>
    q
      .selectFrom("_revision as v")
      .innerJoin("_content as c", "c.id", "v.content_id")
      .select(["v.seq", sql<Buffer | null>`iif(v.to_run is null, c.sha256, null)`.as("sha256")])
      .where("v.resource_id", "=", p.resourceId)
      .orderBy("v.seq", "desc")
      .limit(1),
  );
  const insert = prepare(
    db,
    (p: {
      resourceId: number;
      seq: number;
      contentId: number;
      run: number;
      status: number;
      at: number;
      baseUrl: string | null;
      sentAt: number | null;
      modifiedAt: number | null;
      headersId: number;
    }) =>
      q.insertInto("_revision").values({
        resource_id: p.resourceId,
        seq: p.seq,
        content_id: p.contentId,
        from_run: p.run,
        status: p.status,
        fetched_at: p.at,
        base_url: p.baseUrl,
        sent_at: p.sentAt,
        modified_at: p.modifiedAt,
        headers_id: p.headersId,
      }),
  );
  const headers = prepareHeaders(db);
  const close = prepare(db, (p: { resourceId: number; run: number }) =>
    q
      .updateTable("_revision")
      .set({ to_run: p.run })
      .where("resource_id", "=", p.resourceId)
      .where("to_run", "is", null),
  );
  const markLastSeen = db.prepare<[{ id: number }]>(markLastSeenSql(":id"));

  return {
    begin: () => headers.forget(),
    last: (resourceId) => selectLast.get({ resourceId }),
    store({ resource, last, body, sha256, headers: { sentAt, modifiedAt, ...kept }, ...stored }, run) {
      const { fetchedAt, ...response } = stored;
      const { id: resourceId } = resource;
      if (last?.sha256) {
        markLastSeen.run({ id: resourceId });
        close.run({ resourceId, run });
      }
      const contentId = bodies.store(resource, last === undefined, sha256, body);
      const times = { at: fetchedAt, sentAt: millisOf(sentAt), modifiedAt: millisOf(modifiedAt) };
      const headersId = headers.idOf(kept);
      insert.run({ resourceId, seq: (last?.seq ?? 0) + 1, contentId, headersId, run, ...response, ...times });
    },
    close: (resourceId, run) => void close.run({ resourceId, run }),
    markLastSeen: (id) => void markLastSeen.run({ id }),
  };
}

type StoredHeaders = Pick<KeptHeaders, "contentType" | "link">;

/** Most responses have the same headers, which are stored once. */
function prepareHeaders(db: Connection) {
  const insert = prepare(db, (p: StoredHeaders) =>
    q.insertInto("_headers").values({ content_type: p.contentType, link: p.link }),
  );
  const select = prepareColumn(db, (p: StoredHeaders) =>
    q
      .selectFrom("_headers")
      .select("id")
      .where("content_type", "is", p.contentType)
      .where("link", "is", p.link),
  );
  /** Of this transaction: after a rollback, its ids are free again. */
  let last: (StoredHeaders & { readonly id: number }) | null = null;
  return {
    forget() {
      last = null;
    },
    idOf({ contentType, link }: StoredHeaders): number {
      if (last === null || last.contentType !== contentType || last.link !== link) {
        const headers = { contentType, link };
        last = { ...headers, id: select.get(headers) ?? Number(insert.run(headers).lastInsertRowid) };
      }
      return last.id;
    },
  };
}
