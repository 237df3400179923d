/**
 * What a mirror knows of a URL. In: a URL as the service spells it. Out: its current content, still compressed, or what else
 * is known. To be called in a transaction.
 */
import { sql } from "kysely";
import { limits } from "../../../schema/input/limits.ts";
import { readRefusedAt, scopeLists } from "../../mirror/absence/refused-scopes.ts";
import type { StoredBody } from "../../mirror/bodies/compression.ts";
import { prepareReadProvenBody, storedBodyColumns } from "../../mirror/bodies/read-body.ts";
import { prepare, prepareColumn, q } from "../../mirror/file/statements.ts";
import type { MirrorReader } from "../../mirror/reader.ts";

/** The content that the mirror holds of a resource. */
export interface HeldContent {
  readonly outcome: "held";
  readonly kind: string;
  /** Of the body as sent. */
  readonly sha256: Buffer;
  /** The body, compressed: it takes a few hundred bytes beside its hash in one row. */
  readonly stored: StoredBody;
  readonly contentType: string | null;
  readonly link: string | null;
  /** Epoch milliseconds. */
  readonly modifiedAt: number | null;
  /** Where redirects led, if they did: relative links of the body resolve against it. */
  readonly finalUrl: string | null;
}

export type Lookup =
  | HeldContent
  /** @param since ISO 8601 */
  | { readonly outcome: "gone"; readonly since: string | null }
  /** Known and not fetched, or failed. */
  | { readonly outcome: "pending"; readonly kind: string }
  /** A resource of the other area. */
  | { readonly outcome: "elsewhere"; readonly kind: string }
  /** A list that the user's token may not read. */
  | { readonly outcome: "refused"; readonly kind: string }
  | { readonly outcome: "unknown" };

export interface MirrorLookup {
  readonly baseUrl: string;
  readonly origin: string;
  find(url: string): Lookup;
  /** For a URL that is no resource's own: the content that redirects to it led to. Slow: it reads all revisions. */
  findByFinalUrl(url: string): HeldContent | null;
  /** Whether a body links to a URL that is no resource, since syncs do not follow the link. Slow: it reads all links. */
  isUnfollowed(url: string): boolean;
  /** Returns the bytes as sent. To be called in the transaction that found them. @throws DamagedBodyError */
  readBody(content: HeldContent): Buffer;
}

const unknown: Lookup = { outcome: "unknown" };

export function prepareLookup({ db, identity }: MirrorReader): MirrorLookup {
  const { origin } = new URL(identity.baseUrl);
  // One after the other, they take half the time of their join.
  const select = prepare(db, (p: { url: string }) =>
    q.selectFrom("_resource").select(["id", "kind", "state", "gone_run as goneRun"]).where("url", "=", p.url),
  );
  const selectRevision = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_revision")
      .select(["content_id as contentId", "base_url as finalUrl"])
      .select(["modified_at as modifiedAt", "headers_id as headersId"])
      .where("resource_id", "=", p.id)
      .where("to_run", "is", null),
  );
  const selectContent = prepare(db, (p: { id: number }) =>
    q.selectFrom("_content as c").select("c.sha256").select(storedBodyColumns).where("c.id", "=", p.id),
  );
  const selectHeaders = prepare(db, (p: { id: number }) =>
    q.selectFrom("_headers").select(["content_type as contentType", "link"]).where("id", "=", p.id),
  );
  const selectStart = prepareColumn(db, (p: { run: number }) =>
    q.selectFrom("_run").select("started_at").where("id", "=", p.run),
  );
  const selectByFinalUrl = prepare(db, (p: { url: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_revision as v", "v.resource_id", "r.id")
      .select(["r.id", "r.kind"])
      .where("v.base_url", "=", p.url)
      .where("v.to_run", "is", null)
      .limit(1),
  );
  // A link below its source is stored as `+` and the rest of the URL; its source is a resource with a shorter URL.
  const selectUnfollowedBelow = prepareColumn(db, (p: { url: string; lengths: string }) =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_link as l", "l.from_id", "r.id")
      .select(sql<1>`1`.as("found"))
      .where("r.url", "in", sql<string>`(select substr(${p.url}, 1, value) from json_each(${p.lengths}))`)
      .where("l.unfollowed_url", "=", sql<string>`'+' || substr(${p.url}, length(r.url) + 1)`)
      .limit(1),
  );
  const selectUnfollowed = prepareColumn(db, (p: { url: string }) =>
    q.selectFrom("_link").select(sql<1>`1`.as("found")).where("unfollowed_url", "=", p.url).limit(1),
  );
  const readProvenBody = prepareReadProvenBody(db);

  const isRefused = (kind: string): boolean => {
    const list = scopeLists.find((name) => name === kind);
    return list !== undefined && readRefusedAt(db, list) !== null;
  };
  const contentOf = ({ id, kind }: { readonly id: number; readonly kind: string }): HeldContent | null => {
    const revision = selectRevision.get({ id });
    if (revision === undefined) return null;
    const { contentId, headersId, modifiedAt, finalUrl } = revision;
    const stored = selectContent.get({ id: contentId });
    if (stored === undefined) return null;
    const headers = headersId === null ? undefined : selectHeaders.get({ id: headersId });
    const { contentType = null, link = null } = headers ?? {};
    return { outcome: "held", kind, sha256: stored.sha256, stored, contentType, link, modifiedAt, finalUrl };
  };

  return {
    baseUrl: identity.baseUrl,
    origin,
    find(url) {
      const row = select.get({ url });
      if (row === undefined) return unknown;
      const { kind, state, goneRun } = row;
      if (state === "gone" || state === "superseded")
        return {
          outcome: "gone",
          since: goneRun === null ? null : (selectStart.get({ run: goneRun }) ?? null),
        };
      const held = contentOf(row);
      if (held !== null) return held;
      if (state === "elsewhere") return { outcome: isRefused(kind) ? "refused" : "elsewhere", kind };
      return { outcome: "pending", kind };
    },
    findByFinalUrl(url) {
      const row = selectByFinalUrl.get({ url });
      return row === undefined ? null : contentOf(row);
    },
    isUnfollowed(url) {
      if (url.length > limits.urlLength) return false;
      const lengths = JSON.stringify(
        Array.from({ length: url.length - origin.length }, (_, n) => url.length - n),
      );
      return (
        selectUnfollowedBelow.get({ url, lengths }) !== undefined ||
        selectUnfollowed.get({ url }) !== undefined
      );
    },
    readBody: ({ stored, sha256 }) => readProvenBody(stored, sha256.toString("hex")),
  };
}
